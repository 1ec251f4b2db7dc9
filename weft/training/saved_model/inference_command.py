"""`python -m tensorflow.python.tools.optimize_for_inference`: writes a graph without what only training needs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Final

from tensorboard.compat.proto import graph_pb2

from weft.framework.importing.graph_file import read_proto, write_graph
from weft.framework.importing.inference_graph import optimize_for_inference
from weft.framework.types import dtypes
from weft.platform.switches import add_switch

_TEXTS: Final = {
    "input": ("", "the file of a GraphDef"),
    "output": ("", "the file to write"),
    "input_names": ("", "the nodes to feed, separated by commas"),
    "output_names": ("", "the nodes wanted, separated by commas"),
    "placeholder_type_enum": (
        str(dtypes.float32.as_datatype_enum), "the number of the inputs' dtype, or one for each, separated by commas",
    ),
}  # fmt: skip


def main(arguments: Sequence[str]) -> None:
    """Optimize the graph that the command line names.

    Args:
        arguments: those behind the command's name.

    Raises:
        SystemExit: an argument does not fit.
        OSError: there is no such file, or it is no graph.
        ValueError, KeyError, AssertionError: those of `optimize_for_inference`.
    """
    parser = argparse.ArgumentParser(prog="optimize_for_inference")
    for name, (default, help_text) in _TEXTS.items():
        parser.add_argument(f"--{name}", default=default, help=help_text)
    add_switch(parser, "frozen_graph", True, "write the wire format, rather than text; what is read is seen from it")
    add_switch(parser, "toco_compatible", False, "accepted; it has no effect")
    told = parser.parse_known_args(arguments)[0]
    try:
        types = [int(each) for each in told.placeholder_type_enum.split(",")]
    except ValueError:
        parser.error(f"argument --placeholder_type_enum: expected numbers, got {told.placeholder_type_enum!r}")
    graph = graph_pb2.GraphDef()
    read_proto(told.input, graph)
    made = optimize_for_inference(
        graph, told.input_names.split(","), told.output_names.split(","), types if len(types) > 1 else types[0]
    )
    folder, name = os.path.split(told.output)
    write_graph(made, folder, name, as_text=not told.frozen_graph)


if __name__ == "__main__":
    main(sys.argv[1:])
