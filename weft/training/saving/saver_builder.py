"""Builders of a Saver's nodes, with TensorFlow's names, so that SaverDefs and meta graphs go from one to the other.

    save/filename, save/Const    the path, fed by each run
    save/SaveV2                  writes; save/control_dependency is the path once that is done
    save/RestoreV2               reads; save/Assign... give it to the variables; save/restore_all waits for them

A sharded Saver has a SaveV2 on each device's task, and MergeV2Checkpoints on the last one's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tensorboard.compat.proto import saver_pb2

from weft.framework.devices import device_spec
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.constant import constant
from weft.ops.array.identity import identity_node
from weft.ops.array.placeholder import placeholder_with_default
from weft.ops.array.shape_ops import shape
from weft.ops.control_flow.ordering import group, with_dependencies
from weft.ops.io import checkpoint_io, checkpoint_v1
from weft.ops.strings.parts import string_join
from weft.ops.variables.partitioned_variable import PartitionedVariable
from weft.ops.variables.saveables import (
    ReferenceVariableSaveable,
    ResourceVariableSaveable,
    SaveableObject,
    SaveSpec,
    saveables_of,
    set_cpu0,
)

_SAVE: Final[dict[int, Callable[..., Operation]]] = {
    saver_pb2.SaverDef.V1: checkpoint_v1.save_slices,
    saver_pb2.SaverDef.V2: checkpoint_io.save_v2,
}
_PerDevice = list[tuple[str, list[SaveableObject]]]
_Saveables = Sequence[SaveableObject]
_Saveable = SaveableObject


class BaseSaverBuilder:
    """Makes the nodes that save and restore; a subclass may make others.

    Args:
        write_version: SaverDef.V2, or SaverDef.V1 for the format that TensorFlow wrote before 0.12.
    """

    SaveSpec = SaveSpec
    SaveableObject = SaveableObject
    VariableSaveable = ReferenceVariableSaveable
    ResourceVariableSaveable = ResourceVariableSaveable

    def __init__(self, write_version: int = saver_pb2.SaverDef.V2) -> None:
        self._write_version = write_version

    def save_op(self, filename_tensor: Tensor, saveables: _Saveables) -> Operation:
        """Make the operation that writes the objects to a file.

        Args:
            filename_tensor: a scalar string, the file's name.
            saveables: the objects.

        Returns:
            The Operation.

        Raises:
            RuntimeError: the builder writes a version of the format that is not known.
        """
        specs = [spec for saveable in saveables for spec in saveable.specs]
        save = _SAVE.get(self._write_version)
        if save is None:
            raise RuntimeError(f"Unexpected write_version: {self._write_version}; it is tf.train.SaverDef.V1 or V2")
        return save(
            filename_tensor,
            [spec.name for spec in specs],
            [spec.slice_spec for spec in specs],
            [spec.tensor for spec in specs],
        )

    def bulk_restore(
        self,
        filename_tensor: Tensor,
        saveables: _Saveables,
        preferred_shard: int,
        restore_sequentially: bool,
    ) -> list[Tensor]:
        """Make the tensors that are read for all objects; here by a node for each object.

        Args:
            filename_tensor: a scalar string, the file's name.
            saveables: the objects.
            preferred_shard: the shard that is looked into first; -1 for any.
            restore_sequentially: whether one is read after the other.

        Returns:
            Tensors, those of all specs of all objects in their order.
        """
        tensors: list[Tensor] = []
        for saveable in saveables:
            with get_default_graph().device(set_cpu0(saveable.device) if saveable.device else None):
                tensors.extend(self.restore_op(filename_tensor, saveable, preferred_shard))
        return tensors

    def restore_op(self, filename_tensor: Tensor, saveable: _Saveable, preferred_shard: int) -> list[Tensor]:
        """Make the tensors that are read for one object.

        Args:
            filename_tensor: a scalar string, the file's name.
            saveable: the object.
            preferred_shard: the shard that is looked into first; -1 for any.

        Returns:
            Tensors, one for each spec of the object.
        """
        return [tensor for spec in saveable.specs for tensor in _restored(filename_tensor, [spec])]

    def sharded_filename(self, filename_tensor: Tensor, shard: int, num_shards: object) -> Tensor:
        """Make the name of one shard.

        Args:
            filename_tensor: a scalar string, the name of all shards together.
            shard: the number of this one.
            num_shards: how many there are.

        Returns:
            A [] string tensor.
        """
        return checkpoint_io.sharded_filename(filename_tensor, shard, num_shards)

    def build(
        self,
        names_to_saveables: object,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        filename: str | None = "model",
    ) -> saver_pb2.SaverDef:
        """Add the nodes to the default graph.

        Args:
            names_to_saveables: the objects by name, or a list of variables.
            reshape: give each tensor read the shape of its variable.
            sharded: write a shard per device.
            max_to_keep: recorded in the SaverDef.
            keep_checkpoint_every_n_hours: recorded in the SaverDef.
            name: the name scope; "save" when None.
            restore_sequentially: recorded nowhere; a restore reads one tensor after the other.
            filename: the path when none is fed.

        Returns:
            The SaverDef, which names the nodes.
        """
        saveables = saveables_of(names_to_saveables)
        graph = get_default_graph()
        with graph.name_scope("save" if name is None else name):
            path = placeholder_with_default(filename or "model", shape=(), name="filename")
            path = placeholder_with_default(path, shape=(), name="Const")
            if sharded:
                per_device = _group_by_devices(saveables)
                saved = self._add_sharded_save(path, per_device)
                restored = self._add_sharded_restore(path, per_device, restore_sequentially, reshape)
            else:
                saved = self._add_save(path, saveables)
                restored = self._add_restore(path, saveables, restore_sequentially, reshape)
        _concatenate_partitioned_variables()
        return saver_pb2.SaverDef(
            filename_tensor_name=path.name,
            save_tensor_name=saved.name,
            restore_op_name=restored.name,
            max_to_keep=max_to_keep or 0,
            sharded=sharded,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            version=self._write_version,
        )

    def _add_save(self, path: Tensor, saveables: _Saveables) -> Tensor:
        return with_dependencies([self.save_op(path, saveables)], path)

    def _add_sharded_save(self, path: Tensor, per_device: _PerDevice) -> Tensor:
        graph = get_default_graph()
        if self._write_version == saver_pb2.SaverDef.V1:
            return self._add_sharded_save_v1(path, per_device)
        with graph.device("CPU"):
            part_path = string_join([path, "_temp/part"])
        count = constant(len(per_device), name="num_shards")
        paths: list[Tensor] = []
        written: list[Tensor] = []
        for shard, (device, saveables) in enumerate(per_device):
            with graph.device(set_cpu0(device)):
                paths.append(self.sharded_filename(part_path, shard, count))
                written.append(self._add_save(paths[-1], saveables))
        merging_device = set_cpu0(per_device[-1][0])
        with graph.control_dependencies([tensor.op for tensor in written]), graph.device(merging_device):
            merged = checkpoint_io.merge_v2_checkpoints(paths, path, delete_old_dirs=True)
            with graph.control_dependencies([merged]):
                return identity_node(path)

    def _add_sharded_save_v1(self, path: Tensor, per_device: _PerDevice) -> Tensor:
        """Each shard keeps its own file; the path that is saved is the pattern of their names."""
        graph = get_default_graph()
        count = constant(len(per_device), name="num_shards")
        written: list[Operation] = []
        for shard, (device, saveables) in enumerate(per_device):
            with graph.device(set_cpu0(device)):
                written.append(self._add_save(self.sharded_filename(path, shard, count), saveables).op)
        with graph.control_dependencies(written), graph.device(set_cpu0(per_device[-1][0])):
            pattern: Tensor = checkpoint_io.sharded_filespec(path, count)
            return pattern

    def _add_restore(
        self,
        path: Tensor,
        saveables: _Saveables,
        restore_sequentially: bool,
        reshape: bool,
        preferred_shard: int = -1,
        name: str = "restore_all",
    ) -> Operation:
        tensors = iter(self.bulk_restore(path, saveables, preferred_shard, restore_sequentially))
        assigned = []
        for saveable in saveables:
            shapes = [_shape_of(spec.tensor) for spec in saveable.specs] if reshape else None
            assigned.append(saveable.restore([next(tensors) for _ in saveable.specs], shapes))
        return group(*assigned, name=name)

    def _add_sharded_restore(
        self, path: Tensor, per_device: _PerDevice, restore_sequentially: bool, reshape: bool
    ) -> Operation:
        restored = []
        for shard, (device, saveables) in enumerate(per_device):
            with get_default_graph().device(device):
                node = self._add_restore(path, saveables, restore_sequentially, reshape, shard, "restore_shard")
            restored.append(node)
        return group(*restored, name="restore_all")


class BulkSaverBuilder(BaseSaverBuilder):
    """Reads all of a device's objects by one node."""

    def bulk_restore(
        self,
        filename_tensor: Tensor,
        saveables: _Saveables,
        preferred_shard: int,
        restore_sequentially: bool,
    ) -> list[Tensor]:
        """Make the tensors that are read for all objects."""
        with get_default_graph().device("cpu:0"):
            return _restored(filename_tensor, [spec for saveable in saveables for spec in saveable.specs])


def _restored(path: Tensor, specs: Sequence[SaveSpec]) -> list[Tensor]:
    return checkpoint_io.restore_v2(  # type: ignore[no-any-return]
        path, [spec.name for spec in specs], [spec.slice_spec for spec in specs], dtypes=[spec.dtype for spec in specs]
    )


def _shape_of(tensor: Tensor) -> Tensor | TensorShape:
    known = tensor.get_shape()
    return known if known.is_fully_defined() else shape(tensor)


def _group_by_devices(saveables: _Saveables) -> _PerDevice:
    per_device: dict[str, list[SaveableObject]] = {}
    for saveable in saveables:
        devices = {device_spec.canonical_name(device_spec.as_string(spec.device)) for spec in saveable.specs}
        if len(devices) != 1:
            raise ValueError(f"All tensors of a saveable object must be on the same device: {saveable.name}")
        per_device.setdefault(devices.pop(), []).append(saveable)
    return sorted(per_device.items())


def _concatenate_partitioned_variables() -> None:
    """Give every partitioned variable in a collection the node that its name promises to readers of the meta graph."""
    graph = get_default_graph()
    for key in graph.get_all_collection_keys():
        for item in graph.get_collection(key):
            if isinstance(item, PartitionedVariable) and item.name not in graph.operations:
                item.as_tensor()
