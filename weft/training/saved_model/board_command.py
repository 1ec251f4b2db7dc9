"""`python -m tensorflow.python.tools.import_pb_to_tensorboard`: shows a graph's file in TensorBoard."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tensorboard.compat.proto import graph_pb2

from weft.events.file_writer import FileWriter
from weft.framework.graphs.graph import Graph
from weft.framework.importing.graph_file import read_proto
from weft.framework.importing.importer import import_graph_def


def import_to_tensorboard(model_dir: str, log_dir: str) -> None:
    """Write a graph's file into an event file.

    Args:
        model_dir: the file of a GraphDef, binary or text.
        log_dir: the directory of the event file.

    Raises:
        OSError: there is no such file, or it is no graph.
        ValueError: it is a graph whose nodes do not fit.
    """
    graph_def = graph_pb2.GraphDef()
    read_proto(model_dir, graph_def)
    with Graph().as_default() as graph:
        import_graph_def(graph_def)
    with FileWriter(log_dir) as writer:
        writer.add_graph(graph)
    sys.stdout.write(f"Model Imported. Visualize by running: tensorboard --logdir={log_dir}\n")


def main(arguments: Sequence[str]) -> None:
    """Show the graph that the command line names.

    Args:
        arguments: those behind the command's name.

    Raises:
        SystemExit: an argument is missing.
        OSError, ValueError: those of `import_to_tensorboard`.
    """
    parser = argparse.ArgumentParser(prog="import_pb_to_tensorboard")
    parser.add_argument("--model_dir", required=True, help="the file of a GraphDef")
    parser.add_argument("--log_dir", required=True, help="the directory of the event file")
    told = parser.parse_known_args(arguments)[0]
    import_to_tensorboard(told.model_dir, told.log_dir)


if __name__ == "__main__":
    main(sys.argv[1:])
