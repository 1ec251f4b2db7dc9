"""A tensor's value as far as it is known while the graph is built: the folding that shape rules ask for."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from weft.framework.nodes.eager_tensor import EagerTensor
from weft.framework.nodes.node_types import group
from weft.framework.nodes.operation import Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types.dims import Dims
from weft.framework.types.tensor_shape import TensorShape
from weft.framework.types.value_types import NumpyArray, OrNone

# Folding is for shapes, axes and paddings; larger values are left to the steps.
_MAX_ELEMENTS: Final = 65536
_MAX_DEPTH: Final = 64


def constant_value(tensor: Tensor, partial: bool = False) -> NumpyArray | OrNone:
    """The tensor's value as an array when it follows from constants and known shapes, else None.

    Args:
        tensor: a tensor of the graph, of any shape and dtype; what is none, such as a number, is its own value.
        partial: whether a vector of integers of which only some are known gives them, in an array of objects with None for the
            others.
    """
    value = _fold(tensor, _MAX_DEPTH) if hasattr(tensor, "op") else tensor
    return _partial_value(tensor) if partial and value is None else value


def evaluated_constant(graph: object, output: Tensor) -> NumpyArray | OrNone:
    """The value of a tensor that follows from constants, else None; `TF_TryEvaluateConstant_wrapper` of `pywrap_tensorflow`.

    Args:
        graph: the tensor's graph, which the tensor knows itself.
        output: the tensor.
    """
    return constant_value(output)


def _partial_value(tensor: Tensor) -> NumpyArray | OrNone:
    known = _known_elements(tensor)
    if known is None:
        return None
    value = np.empty(len(known), object)
    value[:] = [None if each is None else np.array(each, tensor.dtype.as_numpy_dtype) for each in known]
    return value


def told_value(tensor: Tensor, partial: bool = False) -> NumpyArray | OrNone:
    """The tensor's value as far as a program is told it while the graph is built, else None.

    TensorFlow's functions see through few ops, such as constants, shapes and what is stacked of them, and so do these, though
    more is known for shapes: what a check asks this for fails when the graph is built, what it does not see when it runs.

    Args:
        tensor: a tensor of the graph, of any shape and dtype; what is none, such as a number, is its own value.
        partial: see `constant_value`.
    """
    if not isinstance(tensor, Tensor) or _is_told(tensor, _MAX_DEPTH):
        return constant_value(tensor, partial)
    return _partial_value(tensor) if partial else None


def _is_told(tensor: Tensor, depth: int) -> bool:
    if isinstance(tensor, EagerTensor):
        return True
    definition = tensor.op.op_def
    if definition.role is Role.CONSTANT or definition.shape_only:
        return True
    return definition.told_while_building and depth > 0 and all(_is_told(each, depth - 1) for each in tensor.op.inputs)


def _fold(tensor: Tensor, depth: int) -> Any:
    if isinstance(tensor, EagerTensor):
        return tensor.value
    op = tensor.op
    definition = op.op_def
    if definition.role is Role.CONSTANT:
        return op.attrs["value"]
    if definition.role is Role.ARGUMENT:
        outer = op.graph.around(tensor)
        return None if outer is None or depth == 0 else _fold(outer, depth - 1)
    if not definition.can_fold or not op.inputs or depth == 0:
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
    """The shape that a 1-D integer tensor holds, as far as it is known; -1 stands for unknown.

    Args:
        tensor: [rank] tensor of int32 or int64.
    """
    return TensorShape(constant_dims(tensor))


def constant_dims(tensor: Tensor) -> Dims:
    """The plain form of `constant_value_as_shape`."""
    value = constant_value(tensor)
    if value is not None:
        return tuple(None if size < 0 else int(size) for size in np.ravel(value))
    known = _known_elements(tensor)
    if known is not None:
        return known
    length = tensor.dims[0] if tensor.dims is not None and len(tensor.dims) == 1 else None
    return None if length is None else (None,) * length


def constant_shape(tensor: Tensor) -> Dims:
    """`constant_dims` of a tensor that is a shape; ValueError where it has what is no size, below -1."""
    value = constant_value(tensor)
    wrong = [] if value is None else [size for size in np.ravel(value).tolist() if size < -1]
    if wrong:
        raise ValueError(f"Invalid value in tensor used for shape: {wrong[0]}")
    return constant_dims(tensor)


def constant_size(tensor: Tensor) -> int | None:
    """The size that an integer scalar holds; None where it is not known, or -1."""
    value = constant_value(tensor)
    if value is not None:
        return None if value < 0 else int(value)
    known = _known_elements(tensor)
    return known[0] if known is not None and len(known) == 1 else None


def _known_elements(tensor: Tensor) -> Dims:
    definition = tensor.op.op_def
    if definition.role is Role.ARGUMENT:
        outer = tensor.op.graph.around(tensor)
        if outer is None:
            return None
        return constant_dims(outer) if outer.dims is not None and len(outer.dims) == 1 else _known_elements(outer)
    if definition.role is Role.ALIAS and tensor.dtype.is_integer:
        return constant_dims(tensor.op.inputs[tensor.value_index])
    return None if definition.known_elements is None else definition.known_elements(tensor.op)
