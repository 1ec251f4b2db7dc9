"""What is known of a tensor's value while the graph is built: the folding that shape rules ask for."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from weft.framework.node_types import group
from weft.framework.op_role import Role
from weft.framework.operation import Tensor
from weft.framework.tensor_shape import Dims, TensorShape

# Folding is for shapes, axes and paddings; larger values are left to the steps.
_MAX_ELEMENTS: Final = 65536
_MAX_DEPTH: Final = 64


def constant_value(tensor: Tensor, partial: bool = False) -> Any:
    """The tensor's value as an array when it follows from constants and known shapes, else None."""
    return _fold(tensor, _MAX_DEPTH)


def _fold(tensor: Tensor, depth: int) -> Any:
    op = tensor.op
    definition = op.op_def
    if definition.role is Role.CONSTANT:
        return op.attrs["value"]
    if (
        definition.stateful
        or definition.is_host
        or definition.compiled_only
        or definition.bodies
        or not op.inputs
        or depth == 0
    ):
        return None
    if definition.role is Role.DEFAULT:
        # A run may feed it another value.
        return None
    if definition.shape_only:
        if any(not t.shape.is_fully_defined() for t in op.inputs):
            return None
        # The kernel looks at shapes only, so an array without memory of its own will do.
        inputs = [np.broadcast_to(np.zeros((), np.float32), t.dims) for t in op.inputs]  # type: ignore[arg-type]
    else:
        if (size := tensor.shape.num_elements()) is None or size > _MAX_ELEMENTS:
            return None
        inputs = []
        for t in op.inputs:
            value = _fold(t, depth - 1)
            if value is None:
                return None
            inputs.append(value)
    return _evaluate(op, inputs)[tensor.value_index]


def _evaluate(op: Any, inputs: list[Any]) -> Any:
    definition = op.op_def
    arguments = [value for _, value in group(definition.inputs, op.attrs, inputs)]
    keywords = {key: op.attrs[key] for key in definition.kernel_attrs}
    result = definition.kernel(np, *arguments, **keywords) if definition.takes_xp else definition.kernel(*arguments, **keywords)
    results = result if isinstance(result, tuple | list) else (result,)
    return [np.asarray(r, t.dtype.as_numpy_dtype) for r, t in zip(results, op.outputs, strict=True)]


def constant_value_as_shape(tensor: Tensor) -> TensorShape:
    """The shape that a 1-D integer tensor holds, as far as it is known; -1 stands for unknown."""
    return TensorShape(constant_dims(tensor))


def constant_dims(tensor: Tensor) -> Dims:
    """The plain form of `constant_value_as_shape`."""
    value = constant_value(tensor)
    if value is not None:
        return tuple(None if size < 0 else int(size) for size in np.ravel(value))
    op = tensor.op
    if op.type == "Shape":
        return op.inputs[0].dims
    if op.type == "Pack" and tensor.shape.ndims == 1:
        return tuple(_scalar(t) for t in op.inputs)
    if op.type == "ConcatV2":
        parts = [constant_dims(t) for t in op.inputs[:-1]]
        return None if None in parts else tuple(size for part in parts for size in part)  # type: ignore[union-attr]
    if op.type in ("Cast", "Identity") and op.inputs[0].dtype.is_integer:
        return constant_dims(op.inputs[0])
    if op.type == "StridedSlice":
        sliced = _sliced_dims(op)
        if sliced is not None:
            return sliced
    length = tensor.dims[0] if tensor.dims is not None and len(tensor.dims) == 1 else None
    return None if length is None else (None,) * length


def _scalar(tensor: Tensor) -> int | None:
    value = constant_value(tensor)
    if value is not None:
        return None if value < 0 else int(value)
    op = tensor.op
    if op.type == "StridedSlice" and op.attrs["shrink_axis_mask"] == 1:
        dims = constant_dims(op.inputs[0])
        begin = constant_value(op.inputs[1])
        if dims is not None and begin is not None and len(begin) == 1 and -len(dims) <= begin[0] < len(dims):
            return dims[int(begin[0])]
    return None


def _sliced_dims(op: Any) -> Dims:
    masks = op.attrs["shrink_axis_mask"], op.attrs["new_axis_mask"], op.attrs["ellipsis_mask"]
    begin, end, strides = (constant_value(t) for t in op.inputs[1:])
    source = constant_dims(op.inputs[0])
    if any(masks) or source is None or begin is None or end is None or strides is None or len(begin) != 1:
        return None
    first = None if op.attrs["begin_mask"] & 1 else int(begin[0])
    last = None if op.attrs["end_mask"] & 1 else int(end[0])
    return source[first : last : int(strides[0])]
