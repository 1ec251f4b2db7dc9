"""Assignment to slices of variables: `variable[1:3].assign(value)`."""

from __future__ import annotations

import numpy as np

from weft.errors import UnimplementedError
from weft.framework.building.aliases import Array, ArrayModule, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.eager_tensor import EagerTensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.ops.array.slicing import MASKS, plan, strided_slice_node
from weft.ops.declaration import definition_of, no_outputs, op, same_as_input
from weft.ops.state.reference_state import INDICES
from weft.ops.state.resource_state import read_variable_op

_INDEX = (dtypes.int16, *INDICES)


def _with_slice(
    xp: ArrayModule, ref: Array, vectors: tuple[Array, Array, Array], masks: tuple[int, ...], value: Array
) -> Array:
    begin, end, strides = vectors
    key = tuple(plan(ref.ndim, begin, end, strides, dict(zip(MASKS, masks, strict=True)), len(strides)))
    if xp is not np:
        return xp.asarray(ref).at[key].set(value)
    result = ref.copy()
    if not result[key].size:
        # What is put into nothing may have any shape.
        return result
    if np.shape(value) != result[key].shape:
        raise UnimplementedError.of(
            f"sliced l-value shape {_dims(result[key])} does not match r-value shape {_dims(value)}. Automatic broadcasting "
            "not yet implemented. tf.fill or tf.broadcast_to makes a value of the slice's shape."
        )
    result[key] = value
    return result


def _dims(array: Array) -> str:
    return f"[{','.join(map(str, np.shape(array)))}]"


@op("StridedSliceAssign", "ref: Ref(T), begin: Index, end: Index, strides: Index, value: T -> output_ref: Ref(T)",
    infer=same_as_input, gradient=None, stateful=True, updates=("ref",), static=("begin", "end", "strides"),
    types={"Index": _INDEX})  # fmt: skip
def strided_slice_assign(
    xp: ArrayModule, ref: Array, begin: Array, end: Array, strides: Array, value: Array, *, begin_mask: int = 0,
    end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0,
) -> Result:  # fmt: skip
    """The variable with a slice of it replaced: `[...], [n], [n], [n], [*slice] -> [...]`."""
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return _with_slice(xp, ref, (begin, end, strides), masks, value)


@op("ResourceStridedSliceAssign", "ref: resource, begin: Index, end: Index, strides: Index, value: T ->",
    infer=no_outputs, gradient=None, stateful=True, updates=("ref",), static=("begin", "end", "strides"),
    types={"Index": _INDEX})  # fmt: skip
def resource_strided_slice_assign(
    xp: ArrayModule, ref: Array, begin: Array, end: Array, strides: Array, value: Array, *, begin_mask: int = 0,
    end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0,
) -> Array:  # fmt: skip
    """Replace a slice of the variable: `scalar resource, [n], [n], [n], [*slice] ->`."""
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return _with_slice(xp, ref, (begin, end, strides), masks, value)


class _Assignable:
    """The part of a slice of a variable that assigns."""

    __slots__ = ()

    op: Operation
    dtype: DType
    state: Tensor  # the reference or handle of the variable

    def assign(self, value: TensorLike, name: str | None = None) -> Tensor:
        """Replace this slice in the variable; the result is the variable after that."""
        return _assign_slice(self, value, name)


class VariableSlice(_Assignable, Tensor):
    """A slice of a variable: the tensor, which can also be assigned to."""


class EagerVariableSlice(_Assignable, EagerTensor):
    """A slice of a variable, with its value, that can also be assigned to."""


def sliced(value: Tensor, state: Tensor, slice_spec: object) -> Tensor:
    """`value[slice_spec]` of a variable's value, as a tensor that can be assigned to when it is a plain slice.

    Args:
        value: what was read of the variable.
        state: its reference or handle.
        slice_spec: the slice.
    """
    tensor = value[slice_spec]
    if tensor.op.op_def is definition_of(strided_slice_node):
        tensor.__class__ = EagerVariableSlice if isinstance(tensor, EagerTensor) else VariableSlice
        vars(tensor)["state"] = state
    return tensor


def _assign_slice(tensor: _Assignable, value: TensorLike, name: str | None) -> Tensor:
    op_, state = tensor.op, tensor.state
    masks = {key: op_.attrs[key] for key in MASKS}
    name = f"{op_.name}/_assign/" if name is None else name
    if state.dtype.is_ref:
        return strided_slice_assign(state, *op_.inputs[1:4], value, name=name, **masks)
    done = resource_strided_slice_assign(state, *op_.inputs[1:4], convert_to_tensor(value, tensor.dtype), name=name, **masks)
    with get_default_graph().control_dependencies([done]):
        return read_variable_op(state, dtype=tensor.dtype)
