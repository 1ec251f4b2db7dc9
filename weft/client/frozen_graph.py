"""Frozen graphs: a GraphDef in which the variables that its outputs need are constants with their values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, Protocol

from tensorboard.compat.proto import graph_pb2, node_def_pb2

from weft.client.frozen_functions import GATHER, READ, freeze_functions
from weft.framework.building.aliases import SessionLike, TensorLike
from weft.framework.importing.subgraph import extract_sub_graph, node_name
from weft.framework.op_types.op_role import Role
from weft.framework.registry import op_registry
from weft.framework.types import dtypes, tensor_util
from weft.platform.logs import tf_logging

_READING: Final = (READ, GATHER)


class ReadsVariables(Protocol):
    """What holds the variables of a graph: a session, or a file of their values."""

    def run(self, fetches: Any, /) -> Any:
        """The values of a dict of names: of a variable, or of the node that reads it."""
        ...


def convert_variables_to_constants(
    sess: SessionLike | ReadsVariables,
    input_graph_def: object,
    output_node_names: Sequence[str],
    variable_names_whitelist: Collection[str] | None = None,
    variable_names_blacklist: Collection[str] | None = None,
) -> graph_pb2.GraphDef:
    """The part of a graph that some outputs need, with constants in place of its variables.

    Args:
        sess: the session that holds the variables.
        input_graph_def: the graph.
        output_node_names: names of the nodes wanted.
        variable_names_whitelist: convert only the variables of these names.
        variable_names_blacklist: do not convert those of these names.
    """
    graph_def = extract_sub_graph(input_graph_def, output_node_names)
    by_name = {node.name: node for node in graph_def.node}
    fetches: dict[str, str] = {}
    for node in graph_def.node:
        if variable_names_whitelist is not None and node.name not in variable_names_whitelist:
            continue
        if node.name in (variable_names_blacklist or ()):
            continue
        if op_registry.role_of(node.op) is Role.VARIABLE:
            fetches[node.name] = f"{node.name}/Read/ReadVariableOp:0" if _is_handle(node) else f"{node.name}:0"
    values = sess.run(fetches) if fetches else {}
    tf_logging.info("Froze %d variables.", len(values))
    handles = {name: by_name[name].attr["dtype"].type for name in values if _is_handle(by_name[name])}
    output = graph_pb2.GraphDef(library=graph_def.library, versions=graph_def.versions)
    for node in graph_def.node:
        if node.name in values:
            _add_constant(output, node, values[node.name])
        elif node.op in _READING and _handle_of(node.input[0], by_name) in values:
            _add_reading(output, node)
        else:
            output.node.add().CopyFrom(node)
            freeze_functions(output.node[-1], output.library, handles)
    return output


def _is_handle(variable: node_def_pb2.NodeDef) -> bool:
    return not op_registry.lookup(variable.op).outputs[0].is_ref


def _handle_of(name: str, by_name: dict[str, Any]) -> str:
    node = by_name[node_name(name)]
    while op_registry.role_of(node.op) is Role.ALIAS:
        node = by_name[node_name(node.input[0])]
    return str(node.name)


def _add_constant(output: graph_pb2.GraphDef, variable: Any, value: TensorLike) -> None:
    node = output.node.add(name=variable.name, op="Const", device=variable.device)
    node.attr["dtype"].CopyFrom(variable.attr["dtype"])
    dtype = dtypes.as_dtype(variable.attr["dtype"].type)
    node.attr["value"].tensor.CopyFrom(tensor_util.make_tensor_proto(value, dtype))


def _add_reading(output: graph_pb2.GraphDef, node: node_def_pb2.NodeDef) -> None:
    """Turn a node that reads a resource into the one that takes the same from a plain tensor."""
    copy = output.node.add(name=node.name, device=node.device)
    if node.op == READ:
        copy.op = "Identity"
        copy.input.extend(node.input)
        copy.attr["T"].CopyFrom(node.attr["dtype"])
        return
    axis = output.node.add(name=f"{node.name}/axis", op="Const", device=node.device)
    axis.attr["dtype"].type = dtypes.int32.as_datatype_enum
    axis.attr["value"].tensor.CopyFrom(tensor_util.make_tensor_proto(0, dtypes.int32))
    copy.op = "GatherV2"
    copy.input.extend([node.input[0], node.input[1], axis.name])
    copy.attr["Tparams"].CopyFrom(node.attr["dtype"])
    copy.attr["Tindices"].CopyFrom(node.attr["Tindices"])
    copy.attr["Taxis"].type = dtypes.int32.as_datatype_enum
    copy.attr["batch_dims"].CopyFrom(node.attr["batch_dims"])
