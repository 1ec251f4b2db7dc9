"""Graphs and other protos as files, binary or text, whichever a program asks for."""

from __future__ import annotations

import os

from google.protobuf import text_format
from google.protobuf.message import Message
from tensorboard.compat.proto import graph_pb2

from weft import errors
from weft.framework.graphs.graph import Graph
from weft.framework.serial.proto_reading import fill_from_either
from weft.platform.files import gfile
from weft.platform.files.missing_file import what_is_there


def write_graph(
    graph_or_graph_def: Graph | graph_pb2.GraphDef, logdir: str | os.PathLike[str], name: str, as_text: bool = True
) -> str:
    """Write a graph, or any proto, to a file, and return its path; the directory is made when it is missing.

    Args:
        graph_or_graph_def: a Graph, or a proto such as a GraphDef.
        logdir: the directory.
        name: the file's name.
        as_text: whether to write text, which people can read, rather than the wire format.

    Returns:
        The file's path.

    Raises:
        FailedPreconditionError: the path is one of a directory.
    """
    proto = graph_or_graph_def.as_graph_def() if isinstance(graph_or_graph_def, Graph) else graph_or_graph_def
    directory = os.fsdecode(logdir)
    if directory:
        gfile.MakeDirs(directory)
    path = os.path.join(directory, name)
    if not name or gfile.IsDirectory(path):
        # What it is first written to would stay there when it cannot be renamed.
        raise errors.FailedPreconditionError.of(f"{path}; Is a directory, and a file is wanted")
    data = text_format.MessageToString(proto).encode() if as_text else proto.SerializeToString()
    temporary = f"{path}.tmp{os.getpid()}"
    with gfile.GFile(temporary, "wb") as file:
        file.write(data)
    gfile.Rename(temporary, path, overwrite=True)
    return path


def read_proto(path: str | os.PathLike[str], proto: Message) -> None:
    """Fill a proto from a file, binary or text.

    Raises:
        OSError: there is no such file; TensorFlow's class for it.
        DataLossError: it holds something else, or is damaged; tells the place. It is an OSError as well.
    """
    name = os.fsdecode(path)
    if not gfile.Exists(name):
        beside = f"{name}.meta"
        hint = f" Did you mean {beside!r}?" if gfile.Exists(beside) else what_is_there(name)
        raise OSError(f"File {name} does not exist.{hint}")
    with gfile.GFile(name, "rb") as file:
        data = file.read()
    fill_from_either(proto, data, name)
