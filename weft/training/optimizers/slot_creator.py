"""Slots: variables that an optimizer keeps beside a variable, of its name and on its device.

A slot of variable `w` is `w/<name>`, `w/<name>_1` and so on, in whatever device scope it is made.
"""

from __future__ import annotations

import contextlib
from typing import Any

from weft.framework.building.aliases import DTypeLike, Initializer, VariableLike
from weft.framework.context import replication
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.ops.array.filling import zeros
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Zeros
from weft.ops.variables.ref_variable import RefVariable
from weft.ops.variables.resource_variable import ResourceVariable
from weft.ops.variables.save_slice_info import SaveSliceInfo
from weft.ops.variables.scopes import get_variable_scope
from weft.ops.variables.variable import Variable
from weft.ops.variables.variable_scope import variable_scope


def create_slot(primary: Variable | Tensor, val: Any, name: str, colocate_with_primary: bool = True) -> Any:
    """Make a slot with the initial value `val`, a tensor.

    Args:
        primary: the variable (or tensor) that the slot belongs to.
        val: the initial value; it gives the type.
        name: the slot's name after the primary's.
        colocate_with_primary: whether the slot is on the primary's device.

    Returns:
        A Variable that is not trained.
    """
    validate = val.get_shape().is_fully_defined()
    return _create(primary, val, name, colocate_with_primary, validate_shape=validate)


def create_slot_with_initializer(
    primary: Variable | Tensor,
    initializer: Initializer | Tensor,
    shape: Any,
    dtype: DTypeLike,
    name: str,
    colocate_with_primary: bool = True,
) -> Any:
    """Make a slot of the shape and type given, whose initial value an initializer makes; see `create_slot`.

    A tensor in place of the initializer has a shape of its own.
    """
    validate = shape.is_fully_defined()
    shape = shape if callable(initializer) else None
    return _create(primary, initializer, name, colocate_with_primary, shape=shape, dtype=dtype, validate_shape=validate)


def create_zeros_slot(primary: Any, name: str, dtype: DTypeLike | None = None, colocate_with_primary: bool = True) -> Any:
    """Make a slot of zeros in the primary's shape, of its type unless another is given; see `create_slot`.

    Returns:
        A Variable that is not trained.
    """
    dtype = primary.dtype.base_dtype if dtype is None else dtype
    shape = primary.get_shape()
    if shape.is_fully_defined():
        return create_slot_with_initializer(primary, Zeros(), shape, dtype, name, colocate_with_primary)
    # The shape is only known once the variable has a value.
    value = primary.initialized_value() if hasattr(primary, "initialized_value") else primary
    return create_slot(primary, zeros(shape_of(value), dtype), name, colocate_with_primary)


def _create(primary: Any, value: Any, name: str, colocate: bool, **keywords: Any) -> Any:
    prefix = primary.shared_name if isinstance(primary, Variable) else primary.op.name
    beside = variables_beside(primary) if colocate else contextlib.nullcontext()
    with variable_scope(None, f"{prefix}/{name}"), beside:
        slot = _get_whole_variable(value, _use_resource(primary), **keywords)
    _note_slice(primary, slot)
    return slot


def variables_beside(primary: VariableLike) -> contextlib.AbstractContextManager[object]:
    """Make variables on the device of another one, or on the devices of its copies, for the extent of a block."""
    mode = replication.current()
    if mode is None:
        return get_default_graph().colocate_with(primary)
    return mode.strategy.extended.colocate_vars_with(primary)


def _get_whole_variable(initializer: Initializer, use_resource: bool | None, **keywords: Any) -> Any:
    # A slot is as whole as its primary: a partitioner of the scope has been at work already.
    scope = get_variable_scope()
    partitioner = scope.partitioner
    scope.set_partitioner(None)
    try:
        return get_variable("", initializer=initializer, trainable=False, use_resource=use_resource, **keywords)
    finally:
        scope.set_partitioner(partitioner)


def _use_resource(primary: Variable | Tensor) -> bool | None:
    if isinstance(primary, ResourceVariable):
        return True
    return False if isinstance(primary, RefVariable) else None


def _note_slice(primary: Any, slot: Any) -> None:
    """Give the slot of a part of a partitioned variable the same part of the whole slot in checkpoints."""
    info = primary._get_save_slice_info() if isinstance(primary, Variable) else None
    rank = slot.get_shape().ndims
    if info is None or rank == 0:
        return
    own_name = slot.op.name[len(primary.op.name) + 1 :]
    parts = (info.full_shape[:rank], info.var_offset[:rank], info.var_shape[:rank])
    slot._set_save_slice_info(SaveSliceInfo(f"{info.full_name}/{own_name}", *parts))
