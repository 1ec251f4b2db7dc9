"""ObjectSaver: the nodes that write and read the variables of an object graph, and what runs them."""

from __future__ import annotations

from collections.abc import Mapping

from tensorboard.compat.proto import saver_pb2

from weft.client.session import BaseSession
from weft.framework import dtypes
from weft.framework.graph import Graph
from weft.framework.operation import Operation, Tensor
from weft.ops.array.constant import constant
from weft.ops.array.placeholder import placeholder_with_default
from weft.ops.control_flow.ordering import group, with_dependencies
from weft.ops.variables.saveables import SaveableObject, SaveSpec, saveables_for
from weft.ops.variables.variable import Variable
from weft.platform import gfile
from weft.training.saving.saver_builder import BulkSaverBuilder
from weft.training.saving.transfer import CheckpointTransfer
from weft.training.tracking.object_graph import OBJECT_GRAPH_KEY, ObjectGraph

_Key = tuple[Graph, bytes, tuple[tuple[str, int], ...]]


class ObjectSaver:
    """Writes and reads variables by their keys. Nodes are added once for each set of variables. For one thread."""

    def __init__(self) -> None:
        self._transfer = CheckpointTransfer(asks_for_shards=False)
        self._nodes: dict[_Key, saver_pb2.SaverDef] = {}

    def save(self, session: BaseSession, objects: ObjectGraph, prefix: str) -> None:
        """Write the variables and the description of the objects; blocks until the checkpoint is complete."""
        description = objects.proto.SerializeToString(deterministic=True)
        key = session.graph, description, _identities(objects.variables)
        if key not in self._nodes:
            self._nodes[key] = _in_graph(session.graph, objects.variables, description)
        directory = prefix.rpartition("/")[0]
        if directory:
            gfile.MakeDirs(directory)
        self._transfer.save(session, self._nodes[key], prefix)

    def restore(self, session: BaseSession, variables: Mapping[str, Variable], prefix: str) -> None:
        """Give variables the values that a checkpoint has under their keys.

        Raises:
            InvalidArgumentError: a variable's type or shape is another one than the checkpoint's.
            NotFoundError: the checkpoint lacks a key.
        """
        if not variables:
            return
        key = session.graph, b"", _identities(variables)
        if key not in self._nodes:
            self._nodes[key] = _in_graph(session.graph, variables, None)
        self._transfer.restore(session, self._nodes[key], prefix)


def _identities(variables: Mapping[str, Variable]) -> tuple[tuple[str, int], ...]:
    return tuple((key, id(variable)) for key, variable in variables.items())


def _in_graph(graph: Graph, variables: Mapping[str, Variable], description: bytes | None) -> saver_pb2.SaverDef:
    """Add the nodes that write, with a description, or those that read, without one."""
    with graph.as_default(), graph.control_dependencies(None), graph.device(None), graph.name_scope("checkpoint"):
        path = placeholder_with_default("model", shape=(), name="filename")
        saveables = [each for key, variable in variables.items() for each in saveables_for(variable, key)]
        nodes = saver_pb2.SaverDef(filename_tensor_name=path.name, version=saver_pb2.SaverDef.V2)
        if description is None:
            nodes.restore_op_name = _reading(path, saveables).name
        else:
            nodes.save_tensor_name = _writing(path, saveables, description).name
        return nodes


def _writing(path: Tensor, saveables: list[SaveableObject], description: bytes) -> Tensor:
    text = constant(description, dtypes.string, name="object_graph")
    saveables = [*saveables, SaveableObject(text, [SaveSpec(text, "", OBJECT_GRAPH_KEY)], OBJECT_GRAPH_KEY)]
    return with_dependencies([BulkSaverBuilder().save_op(path, saveables)], path)


def _reading(path: Tensor, saveables: list[SaveableObject]) -> Operation:
    tensors = iter(BulkSaverBuilder().bulk_restore(path, saveables, -1, False))
    assigned = [each.restore([next(tensors) for _ in each.specs], None) for each in saveables]
    return group(*assigned, name="restore_all")
