"""Saves and restores through the process that has the session, for tasks that do not see its files.

The nodes of a Saver stay as they are, for they are TensorFlow's: what a SaveV2 takes is fetched, and written here; what a
RestoreV2 makes is read here, and fed. This process holds the variables of one task at a time while it saves, for they are those
of one moment, and `BATCH_BYTES` or one variable while it restores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np

from weft.checkpoint.bundle_reader import BundleReader
from weft.checkpoint.bundle_writer import BundleWriter
from weft.framework.building.aliases import Array, SessionLike
from weft.framework.devices import device_spec
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types.dtypes import DType
from weft.ops.declaration import definition_of
from weft.ops.io.checkpoint_io import add_tensor, check_present, read_tensor, restore_v2, save_v2

BATCH_BYTES: Final = 64 << 20


@dataclass(frozen=True)
class _Saved:
    """One tensor of a checkpoint, and the tensor of the graph that is written or read."""

    name: str
    box: str
    tensor: Tensor

    @property
    def dtype(self) -> DType:
        return self.tensor.dtype.base_dtype


def streamed_save(session: SessionLike, saved: Operation, prefix: str, feeds: Mapping[Tensor, object] | None = None) -> None:
    """Write the checkpoint that the SaveV2 nodes behind an operation describe, task by task, in this process.

    Args:
        session: the session.
        saved: the operation.
        prefix: the checkpoint's path.
        feeds: values of nodes that are written as they are fed.

    Raises:
        OpError: a variable has no value, a task does not answer, or the checkpoint cannot be written.
    """
    per_task: dict[str, list[_Saved]] = {}
    for node in _nodes_behind([saved], save_v2):
        for item in _items(node, node.inputs[3:]):
            per_task.setdefault(_task_of(item.tensor), []).append(item)
    with BundleWriter(prefix) as writer:
        for items in per_task.values():
            values: list[Array] = session.run([item.tensor for item in items], feeds)
            for item in items:
                # Given up one by one, so that memory falls while the disk is waited for.
                add_tensor(writer, item.name, item.box, values.pop(0), item.dtype)


def names_in_checkpoint(restored: Sequence[Operation], keys: Mapping[str, str]) -> dict[Tensor, Array]:
    """Return what the names of the RestoreV2 nodes behind operations are fed for a checkpoint that has some by other keys.

    Args:
        restored: the operations.
        keys: the keys of names.
    """
    nodes = _nodes_behind(restored, restore_v2)
    return {node.inputs[1]: _as_texts([keys.get(name, name) for name in _constant_texts(node.inputs[1])]) for node in nodes}


def _as_texts(names: Sequence[str]) -> Array:
    return np.array([name.encode() for name in names], np.object_)


def streamed_restore(
    session: SessionLike, restored: Sequence[Operation], prefix: str, keys: Mapping[str, str] = MappingProxyType({})
) -> None:  # fmt: skip
    """Read a checkpoint in this process, and feed it piece by piece to the assignments that operations are or wait for.

    Args:
        session: the session.
        restored: the operations.
        prefix: the checkpoint's path.
        keys: the keys in the checkpoint of names that have another there.

    Raises:
        NotFoundError: the checkpoint lacks a variable.
        InvalidArgumentError: a variable's type or shape is another one than the checkpoint's.
        DataLossError: a file is damaged.
    """
    read = [item for node in _nodes_behind(restored, restore_v2) for item in _items(node, node.outputs)]
    items = {item.tensor: replace(item, name=keys.get(item.name, item.name)) for item in read}
    with BundleReader(prefix) as reader:
        leaves = _leaves(restored)
        needed_at_all = {tensor for leaf in leaves for tensor in _tensors_behind(leaf)}
        check_present(reader, [item.name for tensor, item in items.items() if tensor in needed_at_all])
        for batch, needed in _batches(leaves, items, reader):
            fed = {item.tensor: read_tensor(reader, item.name, item.box, item.dtype) for item in needed}
            session.run(batch, fed)


def _batches(
    leaves: Sequence[Operation], items: dict[Tensor, _Saved], reader: BundleReader
) -> Iterator[tuple[list[Operation], list[_Saved]]]:
    batch: list[Operation] = []
    needed: list[_Saved] = []
    size = 0
    for leaf in leaves:
        own = [items[tensor] for tensor in _tensors_behind(leaf) if tensor in items]
        own_size = sum(_bytes_of(item, reader) for item in own)
        if batch and size + own_size > BATCH_BYTES:
            yield batch, needed
            batch, needed, size = [], [], 0
        batch.append(leaf)
        needed += own
        size += own_size
    if batch:
        yield batch, needed


def _bytes_of(item: _Saved, reader: BundleReader) -> int:
    # Of a slice the whole is counted: an upper bound will do.
    return math.prod(reader.shape(item.name)) * item.dtype.size


def _items(node: Operation, tensors: Sequence[Tensor]) -> list[_Saved]:
    names, boxes = _constant_texts(node.inputs[1]), _constant_texts(node.inputs[2])
    return [_Saved(name, box, tensor) for name, box, tensor in zip(names, boxes, tensors, strict=True)]


def _constant_texts(tensor: Tensor) -> list[str]:
    value: Array = constant_value(tensor)
    return [bytes(item).decode() for item in value.ravel().tolist()]


def _task_of(tensor: Tensor) -> str:
    return device_spec.task_name(tensor.device) if tensor.device else ""


def _leaves(restored: Sequence[Operation]) -> list[Operation]:
    """The operations themselves, and instead of a group those that it waits for, through the groups among them."""
    leaves: dict[Operation, None] = {}
    waiting = list(reversed(restored))
    while waiting:
        op = waiting.pop()
        if op.op_def.role is Role.ORDER:
            waiting += reversed(op.control_inputs)
        else:
            leaves[op] = None
    return list(leaves)


def _nodes_behind(ends: Sequence[Operation], kind: Callable[..., object]) -> list[Operation]:
    wanted = definition_of(kind)
    return [op for op in _ops_behind(ends) if op.op_def is wanted]


def _tensors_behind(end: Operation) -> dict[Tensor, None]:
    return {tensor: None for op in _ops_behind([end]) for tensor in op.inputs}


def _ops_behind(ends: Sequence[Operation]) -> list[Operation]:
    seen: dict[Operation, None] = {}
    waiting = list(ends)
    while waiting:
        op = waiting.pop()
        if op not in seen:
            seen[op] = None
            waiting += [tensor.op for tensor in op.inputs]
            waiting += op.control_inputs
    return sorted(seen, key=lambda op: op.id)
