"""ObjectSaver: the nodes that write and read the variables of an object graph, and what runs them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from tensorboard.compat.proto import saver_pb2

from weft.checkpoint.object_description import OBJECT_GRAPH_KEY
from weft.client.session import BaseSession
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.array.placeholder import placeholder_with_default
from weft.ops.control_flow.ordering import group, with_dependencies
from weft.ops.variables.saveables import SaveableObject, SaveSpec, saveables_for
from weft.ops.variables.variable import Variable
from weft.platform.files import gfile
from weft.training.saving.saver_builder import BulkSaverBuilder
from weft.training.saving.transfer import CheckpointTransfer
from weft.training.tracking.object_graph import ObjectGraph

_Key = tuple[Graph, bytes, tuple[tuple[str, int], ...]]
_Written = tuple[saver_pb2.SaverDef, dict[str, Tensor]]


class ObjectSaver:
    """Writes and reads variables by their keys. Nodes are added once for each set of variables. For one thread."""

    def __init__(self) -> None:
        self._transfer = CheckpointTransfer(asks_for_shards=False)
        self._written: dict[_Key, _Written] = {}
        self._read: dict[_Key, saver_pb2.SaverDef] = {}

    def save(self, session: BaseSession, objects: ObjectGraph, prefix: str) -> None:
        """Write the variables and the description of the objects; blocks until the checkpoint is complete."""
        description = objects.proto.SerializeToString(deterministic=True)
        key = session.graph, description, _identities(objects.variables)
        if key not in self._written:
            self._written[key] = _writing_nodes(session.graph, objects, description)
        nodes, states = self._written[key]
        directory = prefix.rpartition("/")[0]
        if directory:
            gfile.MakeDirs(directory)
        feeds = {states[each]: state.serialize() for each, state in objects.states.items()}
        self._transfer.save(session, nodes, prefix, feeds)

    def restore(self, session: BaseSession, variables: Mapping[str, Variable], prefix: str) -> None:
        """Give variables the values that a checkpoint has under their keys.

        Raises:
            InvalidArgumentError: a variable's type or shape is another one than the checkpoint's.
            NotFoundError: the checkpoint lacks a key.
        """
        if not variables:
            return
        key = session.graph, b"", _identities(variables)
        if key not in self._read:
            self._read[key] = _reading_nodes(session.graph, variables)
        self._transfer.restore(session, self._read[key], prefix)


def _identities(variables: Mapping[str, Variable]) -> tuple[tuple[str, int], ...]:
    return tuple((key, id(variable)) for key, variable in variables.items())


@contextlib.contextmanager
def _apart(graph: Graph) -> Iterator[tuple[Tensor, saver_pb2.SaverDef]]:
    """A block whose nodes depend on nothing of the program's; yields the path's, and what names them, this one already."""
    with graph.as_default(), graph.control_dependencies(None), graph.device(None), graph.name_scope("checkpoint"):
        path = placeholder_with_default("model", shape=(), name="filename")
        yield path, saver_pb2.SaverDef(filename_tensor_name=path.name, version=saver_pb2.SaverDef.V2)


def _writing_nodes(graph: Graph, objects: ObjectGraph, description: bytes) -> _Written:
    with _apart(graph) as (path, nodes):
        saveables = _saveables(objects.variables)
        states = {key: placeholder_with_default(b"", shape=(), name="py_state") for key in objects.states}
        texts = {**states, OBJECT_GRAPH_KEY: constant(description, dtypes.string, name="object_graph")}
        saveables += [SaveableObject(text, [SaveSpec(text, "", key)], key) for key, text in texts.items()]
        nodes.save_tensor_name = with_dependencies([BulkSaverBuilder().save_op(path, saveables)], path).name
    return nodes, states


def _reading_nodes(graph: Graph, variables: Mapping[str, Variable]) -> saver_pb2.SaverDef:
    with _apart(graph) as (path, nodes):
        saveables = _saveables(variables)
        tensors = iter(BulkSaverBuilder().bulk_restore(path, saveables, -1, False))
        assigned = [each.restore([next(tensors) for _ in each.specs], None) for each in saveables]
        nodes.restore_op_name = group(*assigned, name="restore_all").name
    return nodes


def _saveables(variables: Mapping[str, Variable]) -> list[SaveableObject]:
    return [each for key, variable in variables.items() for each in saveables_for(variable, key)]
