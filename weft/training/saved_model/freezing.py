"""freeze_graph: a graph file and a checkpoint, or a SavedModel, as one GraphDef with constants."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from tensorboard.compat.proto import graph_pb2, meta_graph_pb2, saver_pb2

from weft.checkpoint.checkpoint_reader import NewCheckpointReader
from weft.checkpoint.checkpoint_state import checkpoint_exists
from weft.client.frozen_graph import ReadsVariables, convert_variables_to_constants
from weft.client.session import Session
from weft.framework.graphs.graph import Graph
from weft.framework.importing.graph_file import read_proto
from weft.framework.importing.importer import import_graph_def
from weft.framework.op_types.op_role import Role
from weft.framework.registry import op_registry
from weft.platform.files import gfile
from weft.training.saved_model.inspection import get_meta_graph_def
from weft.training.saved_model.loader import load
from weft.training.saving.meta_graph import read_meta_graph_file
from weft.training.saving.saver import Saver, import_meta_graph

_PART: Final = re.compile(r"/part_\d+$")


def freeze_graph(
    input_graph: str | None,
    input_saver: str | None,
    input_binary: bool,
    input_checkpoint: str | None,
    output_node_names: str,
    restore_op_name: str | None,
    filename_tensor_name: str | None,
    output_graph: str | None,
    clear_devices: bool,
    initializer_nodes: str | None,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph: str | None = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: str = "serve",
    checkpoint_version: int = saver_pb2.SaverDef.V2,
) -> graph_pb2.GraphDef:
    """Freeze a model that lies in files.

    Args:
        input_graph: the file of a GraphDef; this, `input_meta_graph` or `input_saved_model_dir` is needed.
        input_saver: the file of a SaverDef, whose nodes in the graph restore the variables; otherwise a new Saver does.
        input_binary: accepted: whether a file is binary or text is seen from the file.
        input_checkpoint: the checkpoint's prefix; None with a SavedModel.
        output_node_names: the nodes wanted, separated by commas.
        restore_op_name, filename_tensor_name: accepted, and not used, as in TensorFlow 1.15.
        output_graph: the file to write; nothing is written where it is empty.
        clear_devices: forget where nodes were placed.
        initializer_nodes: nodes to run after the variables are restored, separated by commas; tables' initializers, say.
        variable_names_whitelist: freeze only these variables, separated by commas; all where it is empty.
        variable_names_blacklist: leave these as variables, separated by commas.
        input_meta_graph: the file of a MetaGraphDef.
        input_saved_model_dir: the folder of a SavedModel.
        saved_model_tags: the tags of its graph, separated by commas.
        checkpoint_version: accepted; the checkpoint's version is seen from its files.

    Returns:
        The GraphDef: the nodes that the outputs need, and constants in place of their variables.

    Raises:
        OSError: there is no such file.
        ValueError: there is no checkpoint, no output is named, or the graph has no variables to freeze.
    """
    graph_def = saver_def = meta_graph_def = None
    if input_saved_model_dir:
        graph_def = get_meta_graph_def(input_saved_model_dir, saved_model_tags).graph_def
    elif input_graph:
        graph_def = graph_pb2.GraphDef()
        read_proto(input_graph, graph_def)
    if input_meta_graph:
        meta_graph_def = read_meta_graph_file(input_meta_graph)
    if input_saver:
        saver_def = saver_pb2.SaverDef()
        read_proto(input_saver, saver_def)
    return freeze_graph_with_def_protos(
        graph_def, saver_def, input_checkpoint, output_node_names, restore_op_name, filename_tensor_name, output_graph,
        clear_devices, initializer_nodes, variable_names_whitelist, variable_names_blacklist, meta_graph_def,
        input_saved_model_dir, [tag for tag in saved_model_tags.split(",") if tag], checkpoint_version,
    )  # fmt: skip


def freeze_graph_with_def_protos(
    input_graph_def: graph_pb2.GraphDef | None,
    input_saver_def: saver_pb2.SaverDef | None,
    input_checkpoint: str | None,
    output_node_names: str,
    restore_op_name: str | None,
    filename_tensor_name: str | None,
    output_graph: str | None,
    clear_devices: bool,
    initializer_nodes: str | None,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph_def: meta_graph_pb2.MetaGraphDef | None = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: list[str] | None = None,
    checkpoint_version: int = saver_pb2.SaverDef.V2,
) -> graph_pb2.GraphDef:
    """Freeze a model that is at hand as protos; arguments, result and errors are those of `freeze_graph`."""
    checkpoint = input_checkpoint or ""
    if not input_saved_model_dir and not (checkpoint and checkpoint_exists(checkpoint)):
        raise ValueError(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
    outputs = _names(output_node_names)
    if not outputs:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    graph_def = input_meta_graph_def.graph_def if input_meta_graph_def is not None else input_graph_def
    if graph_def is None:
        raise ValueError("There is no graph to freeze: give input_graph, input_meta_graph or input_saved_model_dir.")
    if clear_devices:
        graph_def = graph_pb2.GraphDef.FromString(graph_def.SerializeToString())
        for node in graph_def.node:
            node.device = ""
    kept = _names(variable_names_whitelist) or None, _names(variable_names_blacklist) or None
    with Graph().as_default(), Session() as session:
        values: ReadsVariables = session
        if input_saved_model_dir:
            load(session, saved_model_tags or [], input_saved_model_dir)
        elif input_meta_graph_def is not None:
            (import_meta_graph(input_meta_graph_def, clear_devices=True) or Saver()).restore(session, checkpoint)
        elif input_saver_def is not None:
            import_graph_def(graph_def, name="")
            Saver(saver_def=input_saver_def).restore(session, checkpoint)
        else:
            values = _CheckpointValues(graph_def, checkpoint)
        if values is session:
            session.run(_names(initializer_nodes))
        frozen = convert_variables_to_constants(values, graph_def, outputs, *kept)
    if output_graph:
        with gfile.GFile(output_graph, "wb") as file:
            file.write(frozen.SerializeToString())
    return frozen


def _names(text: str | None) -> list[str]:
    return [name for name in (text or "").replace(" ", "").split(",") if name]


class _CheckpointValues:
    """The variables of a graph with the values that a checkpoint has: stands for a session in which they were restored."""

    def __init__(self, graph_def: graph_pb2.GraphDef, checkpoint: str) -> None:
        self._reader = NewCheckpointReader(checkpoint)
        variables = [node.name for node in graph_def.node if op_registry.role_of(node.op) is Role.VARIABLE]
        if not variables:
            raise ValueError(
                "No variables were found in this model. It is likely the model was frozen previously. You cannot freeze a "
                "graph twice."
            )
        if any(_PART.search(name) and not self._reader.has_tensor(name) for name in variables):
            raise ValueError(
                "Models containing partition variables cannot be converted from checkpoint files. Please pass in a SavedModel "
                "using the flag --input_saved_model_dir, or a MetaGraphDef using --input_meta_graph."
            )

    def run(self, fetches: Mapping[str, str]) -> dict[str, object]:
        """The values of variables, by what names the fetches have; NotFoundError for one that the checkpoint lacks."""
        return {name: self._reader.get_tensor(name) for name in fetches}
