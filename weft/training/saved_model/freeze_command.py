"""`python -m tensorflow.python.tools.freeze_graph`: writes a graph with constants in place of its variables."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Final

from weft.platform.switches import add_switch
from weft.training.saved_model.freezing import freeze_graph as freeze_graph
from weft.training.saved_model.freezing import freeze_graph_with_def_protos as freeze_graph_with_def_protos

_TEXTS: Final = {
    "input_graph": ("", "the file of a GraphDef"),
    "input_saver": ("", "the file of a SaverDef"),
    "input_checkpoint": ("", "the prefix of the checkpoint with the variables"),
    "output_graph": ("", "the file to write"),
    "output_node_names": ("", "the nodes wanted, separated by commas"),
    "restore_op_name": ("save/restore_all", "accepted, and not used"),
    "filename_tensor_name": ("save/Const:0", "accepted, and not used"),
    "initializer_nodes": ("", "nodes to run before freezing, separated by commas"),
    "variable_names_whitelist": ("", "freeze only these variables, separated by commas"),
    "variable_names_blacklist": ("", "leave these as variables, separated by commas"),
    "input_meta_graph": ("", "the file of a MetaGraphDef"),
    "input_saved_model_dir": ("", "the folder of a SavedModel"),
    "saved_model_tags": ("serve", "the tags of its graph, separated by commas"),
}


def main(arguments: Sequence[str]) -> None:
    """Freeze the graph that the command line names.

    Args:
        arguments: those behind the command's name.

    Raises:
        SystemExit: an argument does not fit.
        OSError, ValueError: those of `freeze_graph`.
    """
    parser = argparse.ArgumentParser(prog="freeze_graph")
    for name, (default, help_text) in _TEXTS.items():
        parser.add_argument(f"--{name}", default=default, help=help_text)
    parser.add_argument("--checkpoint_version", type=int, default=2, help="the format of the checkpoint, which is seen from it")
    add_switch(parser, "input_binary", False, "whether the file is binary, which is seen from it")
    add_switch(parser, "clear_devices", True, "forget where nodes were placed")
    told = parser.parse_known_args(arguments)[0]
    if told.checkpoint_version not in (1, 2):
        parser.error(f"argument --checkpoint_version: there are 1 and 2, got {told.checkpoint_version}")
    freeze_graph(**vars(told))


if __name__ == "__main__":
    main(sys.argv[1:])
