"""`python -m tensorflow.python.tools.strip_unused`: writes the part of a graph between some nodes and others."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Final

from tensorboard.compat.proto import graph_pb2

from weft.framework.importing.graph_file import read_proto, write_graph
from weft.framework.importing.inference_graph import strip_unused
from weft.framework.types import dtypes
from weft.platform.switches import add_switch

_TEXTS: Final = {
    "input_graph": "the file of a GraphDef",
    "output_graph": "the file to write",
    "input_node_names": "the nodes to feed, separated by commas",
    "output_node_names": "the nodes wanted, separated by commas",
}


def strip_unused_from_files(
    input_graph: str, input_binary: bool, output_graph: str, output_binary: bool, input_node_names: str,
    output_node_names: str, placeholder_type_enum: int | list[int],
) -> None:  # fmt: skip
    """Write the part of a graph's file between some nodes, which become placeholders, and others.

    Args:
        input_graph: the file of a GraphDef.
        input_binary: whether it is binary, which is seen from it.
        output_graph: the file to write.
        output_binary: whether to write the wire format, rather than text.
        input_node_names: the nodes to feed, separated by commas.
        output_node_names: the nodes wanted, separated by commas.
        placeholder_type_enum: the placeholders' dtype as `DType.as_datatype_enum`, or one for each.

    Raises:
        OSError: there is no such file, or it is no graph.
        ValueError: no node is wanted, or a name is a tensor's.
        KeyError: there is no node of an input's name.
        AssertionError: there is no node of an output's name.
    """
    if not output_node_names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    graph = graph_pb2.GraphDef()
    read_proto(input_graph, graph)
    inputs, outputs = (names.split(",") for names in (input_node_names, output_node_names))
    stripped = strip_unused(graph, inputs, outputs, placeholder_type_enum)
    folder, name = os.path.split(output_graph)
    write_graph(stripped, folder, name, as_text=not output_binary)
    sys.stdout.write(f"{len(stripped.node)} ops in the final graph.\n")


def main(arguments: Sequence[str]) -> None:
    """Strip the graph that the command line names.

    Args:
        arguments: those behind the command's name.

    Raises:
        SystemExit: an argument does not fit.
        OSError, ValueError, KeyError, AssertionError: those of `strip_unused_from_files`.
    """
    parser = argparse.ArgumentParser(prog="strip_unused")
    for name, help_text in _TEXTS.items():
        parser.add_argument(f"--{name}", default="", help=help_text)
    add_switch(parser, "input_binary", False, "whether the file is binary, which is seen from it")
    add_switch(parser, "output_binary", True, "write the wire format, rather than text")
    parser.add_argument(
        "--placeholder_type_enum", type=int, default=dtypes.float32.as_datatype_enum, help="the number of the inputs' dtype"
    )
    strip_unused_from_files(**vars(parser.parse_known_args(arguments)[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
