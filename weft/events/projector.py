"""The embedding projector of TensorBoard: which variables it shows, and what it says of their rows."""

from __future__ import annotations

import os

from google.protobuf import text_format
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

from weft.events.file_writer import FileWriter
from weft.platform.files.file_io import write_string_to_file

# TensorBoard looks for this file in each of its folders.
_FILE = "projector_config.pbtxt"


def visualize_embeddings(summary_writer: FileWriter, config: ProjectorConfig) -> None:
    """Have TensorBoard's projector show variables: write the configuration into the folder of a writer.

    Args:
        summary_writer: writes into the folder, where the checkpoints are if the configuration names no other.
        config: a variable's name, the file with its labels and its pictures, for each of the embeddings.

    Raises:
        ValueError: the writer has no folder.
    """
    folder = summary_writer.get_logdir()
    if folder is None:
        raise ValueError("Summary writer must have a logdir")
    write_string_to_file(os.path.join(folder, _FILE), text_format.MessageToString(config))
