"""Graphs of pruned models without their masks: the products of masks and weights become constants."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

import numpy as np
from tensorboard.compat.proto import graph_pb2

from weft.checkpoint.checkpoint_state import latest_checkpoint
from weft.client.frozen_graph import convert_variables_to_constants
from weft.client.session import Session
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.importing.importer import import_graph_def
from weft.framework.importing.subgraph import extract_sub_graph
from weft.framework.types import tensor_util
from weft.platform.logs import tf_logging
from weft.training.saving.saver import import_meta_graph

_MASKED: Final = "masked_weight"


def strip_pruning_vars_fn(input_graph_def: graph_pb2.GraphDef, output_node_names: Sequence[str]) -> graph_pb2.GraphDef:
    """A frozen graph without masks: its products with weights, which are named `masked_weight`, are constants.

    Args:
        input_graph_def: the graph, in which variables are constants, as by `tf.graph_util.convert_variables_to_constants`.
        output_node_names: names of the nodes wanted.
    """
    names = [node.name for node in input_graph_def.node if _MASKED in node.name]
    with Graph().as_default() as graph:
        import_graph_def(input_graph_def, name="")
        with Session(graph=graph) as session:
            values = session.run({name: f"{name}:0" for name in names}) if names else {}
    stripped = graph_pb2.GraphDef()
    for node in input_graph_def.node:
        if node.name not in values:
            stripped.node.add().CopyFrom(node)
            continue
        value = values[node.name]
        zeros = 100 - 100 * np.count_nonzero(value) / value.size
        tf_logging.info("%s has %d values, %1.2f%% zeros", node.name, value.size, zeros)
        constant = stripped.node.add(name=node.name, op="Const")
        constant.attr["dtype"].CopyFrom(node.attr["T"])
        constant.attr["value"].tensor.CopyFrom(tensor_util.make_tensor_proto(value))
    return extract_sub_graph(stripped, output_node_names)


def graph_def_from_checkpoint(checkpoint_dir: str | os.PathLike[str], output_node_names: Sequence[str]) -> graph_pb2.GraphDef:
    """The graph of the latest checkpoint in a folder, with its variables' values as constants.

    It is added to the default graph.

    Args:
        checkpoint_dir: the folder.
        output_node_names: names of the nodes wanted.

    Raises:
        ValueError: there is no checkpoint.
    """
    path = latest_checkpoint(os.fspath(checkpoint_dir))
    if path is None:
        raise ValueError(f"Could not find a checkpoint at: {checkpoint_dir}.")
    saver = import_meta_graph(f"{path}.meta", clear_devices=True)
    with Session() as session:
        if saver is not None:  # there are variables
            saver.restore(session, path)
        return convert_variables_to_constants(session, get_default_graph().as_graph_def(), output_node_names)
