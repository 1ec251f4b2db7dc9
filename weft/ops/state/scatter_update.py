"""Ops that change parts of a variable: scatter_* by row, scatter_nd_* by position, for Refs and for resources.

An index that occurs repeatedly is applied each time; one out of range is an InvalidArgumentError. XLA has no such
errors: in a compiled stage an index out of range changes nothing. Indices that reach the stage from outside, as feeds
and constants do, are checked before it runs (`check=`); those that it computes itself are not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Result, TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.node_errors import BuildMisfit
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, merge_dims
from weft.framework.types.dtypes import DType
from weft.ops.array.row_order import accumulate_rows, put_rows, sorted_rows
from weft.ops.declaration import Gradient, not_differentiable, op
from weft.ops.handle_shapes import handle_shape
from weft.ops.math.elementwise import NUMBERS
from weft.ops.state.reference_state import INDICES
from weft.ops.traced_checks import note_wrong

_ADDABLE: Final = (*NUMBERS, dtypes.bool)
_ORDERED: Final = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


@dataclass(frozen=True)
class _Rule:
    """One way to combine: the ufunc for NumPy, the method of `array.at[...]` for JAX, if any, and the types that have it."""

    ufunc: Any
    method: str
    types: tuple[DType, ...]
    use_locking: bool = False


_UPDATE: Final = _Rule(None, "set", (), use_locking=True)
_ADD: Final = _Rule(np.add, "add", NUMBERS)
_SUB: Final = _Rule(np.subtract, "subtract", NUMBERS)
_XOR: Final = _Rule(np.logical_xor, "", ())
_MUL: Final = _Rule(np.multiply, "multiply", NUMBERS)
_DIV: Final = _Rule(np.divide, "divide", NUMBERS)
_MIN: Final = _Rule(np.minimum, "min", _ORDERED)
_MAX: Final = _Rule(np.maximum, "max", _ORDERED)


def check_rows(indices: Array, size: int) -> None:
    """Raise InvalidArgumentError unless all indices are rows of a tensor with `size` of them."""
    wrong = (indices < 0) | (indices >= size)
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        place = f"[{','.join(map(str, where))}]" if where else ""
        raise InvalidArgumentError.of(f"indices{place} = {indices[where]} is not in [0, {size})")


def check_positions(indices: Array, shape: tuple[int, ...]) -> None:
    """Raise InvalidArgumentError unless the last dimension of `indices` holds positions in a tensor of this shape."""
    depth = indices.shape[-1]
    wrong = ((indices < 0) | (indices >= np.asarray(shape[:depth], np.int64))).any(axis=-1)
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        place = f"[{','.join(map(str, where))}]" if where else ""
        position = ", ".join(map(str, indices[where]))
        bounds = ",".join(map(str, shape))
        raise InvalidArgumentError.of(f"indices{place} = [{position}] does not index into shape [{bounds}]")


def check_row_inputs(node: Operation, variable: Array, indices: Array, *others: Array) -> None:
    """`check_rows` for what is known of a node's inputs."""
    if variable is not None and indices is not None:
        check_rows(indices, variable.shape[0])


def check_position_inputs(node: Operation, variable: Array, indices: Array, *others: Array) -> None:
    """`check_positions` for what is known of a node's inputs."""
    if variable is not None and indices is not None:
        check_positions(indices, variable.shape)


def _check_divisors(updates: Array) -> None:
    if updates.dtype.kind in "iu" and not np.all(updates):
        raise InvalidArgumentError.of("updates must not contain 0")


def _check_divided(node: Operation, variable: Array, indices: Array, updates: Array) -> None:
    check_row_inputs(node, variable, indices, updates)
    if updates is not None:
        _check_divisors(updates)


def _combine(xp: ArrayModule, rule: _Rule, ref: Array, key: Array, updates: Array) -> Array:
    if rule in (_MIN, _MAX) and updates.dtype.kind not in "iu":
        # An update that is NaN changes nothing, as in TensorFlow.
        updates = xp.where(updates == updates, updates, np.inf if rule is _MIN else -np.inf).astype(updates.dtype)
    if rule is _SUB and ref.dtype == np.bool_:
        # As C++ has it: of two truths nothing is left, and a truth less than nothing is one.
        ref = xp.asarray(ref)
        if xp is np:
            return _combine(xp, _XOR, ref, key, updates)
        # JAX has no such update of places that may come twice: of each the truths are counted.
        counts = _combine(xp, _ADD, xp.zeros(ref.shape, np.int32), key, updates.astype(np.int32))
        return ref ^ (counts % 2 == 1)
    if rule is _DIV and xp is np:
        _check_divisors(updates)
    if rule is _DIV and xp is not np and ref.dtype.kind in "iu":
        note_wrong(updates == 0)
    if rule is _DIV and ref.dtype.kind in "iu":
        # Repeated divisions that drop the remainder amount to one by the product.
        return _truncated_quotient(xp, ref, _combine(xp, _MUL, xp.ones_like(ref), key, updates))
    if xp is not np:
        at = xp.asarray(ref).at[key]
        return getattr(at, rule.method)(updates, mode="drop", wrap_negative_indices=False)
    result = ref if ref.flags.writeable else ref.copy()
    if rule.ufunc is None:
        result[key] = updates
    elif type(key) is tuple or key.ndim != 1 or not np.ndim(updates) or result.ndim == 1:
        # Of numbers in a row NumPy has loops of its own, which take less time than to put them in order.
        rule.ufunc.at(result, key, updates)
    else:
        _accumulate(rule.ufunc, result, key, updates)
    return result


def _accumulate(ufunc: Array, table: Array, indices: Array, updates: Array) -> None:
    """`ufunc.at` for rows: nearly all of them come once, and those at once are many times faster than one by one."""
    order, ordered, is_first = sorted_rows(indices)
    places, rows = order[is_first], ordered[is_first]
    put_rows(table, rows, ufunc(np.take(table, rows, axis=0), np.take(updates, places, axis=0)))
    again = ~is_first
    if again.any():
        accumulate_rows(ufunc, table, ordered[again], updates[order[again]])


def _truncated_quotient(xp: ArrayModule, x: Array, y: Array) -> Array:
    return (xp.abs(x) // xp.abs(y)) * (xp.sign(x) * xp.sign(y))


def _scatter(xp: ArrayModule, rule: _Rule, ref: Array, indices: Array, updates: Array) -> Array:
    if xp is np:
        check_rows(indices, ref.shape[0])
    if not indices.size:
        return ref
    return _combine(xp, rule, ref, indices, updates)


def _scatter_nd(xp: ArrayModule, rule: _Rule, ref: Array, indices: Array, updates: Array) -> Array:
    if xp is np:
        check_positions(indices, ref.shape)
    key = tuple(indices[..., axis] for axis in range(indices.shape[-1]))
    return _combine(xp, rule, ref, key, updates)


def _check_row_shapes(ref: Dims, indices: Dims, updates: Dims) -> None:
    if ref is not None and not ref:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    if ref is None or indices is None or updates is None or not updates:
        return
    merge_dims(updates, indices + ref[1:])


def _check_handle_rows(ref: Dims, indices: Dims, updates: Dims) -> None:
    try:
        _check_row_shapes(ref, indices, updates)
    except ValueError as error:
        if 0 not in (indices or ()):
            raise
        # A run looks at no updates of a resource where there are no indices.
        raise BuildMisfit(str(error), "Updates have the shape of the indices, and of a row behind that.") from error


def _check_position_shapes(ref: Dims, indices: Dims, updates: Dims) -> None:
    for dims in (indices, updates):
        if dims is not None and not dims:
            raise ValueError("Shape must be at least rank 1 but is rank 0")
    if ref is None or indices is None or updates is None or indices[-1] is None:
        return
    if indices[-1] > len(ref):
        raise ValueError(
            f"The last dimension of indices must be at most the rank of the variable, {len(ref)}, but is {indices[-1]}"
        )
    merge_dims(updates, indices[:-1] + ref[indices[-1] :])


def _same_ref(check: Callable[[Dims, Dims, Dims], None]) -> Callable[[Operation], list[Dims]]:
    def infer(node: Operation) -> list[Dims]:
        ref, indices, updates = (tensor.dims for tensor in node.inputs)
        check(ref, indices, updates)
        return [ref]

    return infer


def _of_handle(check: Callable[[Dims, Dims, Dims], None]) -> Callable[[Operation], list[Dims]]:
    """The shape rule of an update of the variable that a handle is of."""

    def infer(node: Operation) -> list[Dims]:
        handle, indices, updates = node.inputs
        check(handle_shape(handle), indices.dims, updates.dims)
        return []

    return infer


_ROWS: Final = "ref: Ref(T), indices: Tindices, updates: T -> output_ref: Ref(T)"
_RESOURCE_ROWS: Final = "resource: resource, indices: Tindices, updates: dtype ->"
_RESOURCE_POSITIONS: Final = "ref: resource, indices: Tindices, updates: T ->"


def _gradient_of(rule: _Rule) -> Gradient:
    """The gradient rule of an update of a Ref; as in TensorFlow, minima and maxima have none to offer."""
    return None if rule in (_MIN, _MAX) else not_differentiable


def _by_row(name: str, rule: _Rule) -> Callable[..., Tensor]:
    def kernel(xp: ArrayModule, ref: Array, indices: Array, updates: Array, *, use_locking: bool = rule.use_locking) -> Result:
        return _scatter(xp, rule, ref, indices, updates)

    kernel.__doc__ = (
        f"The variable with the updates combined by {rule.method} into the rows that the indices name: "
        "`[rows, *inner], [...], [..., *inner] -> [rows, *inner]`."
    )
    return op(name, _ROWS, infer=_same_ref(_check_row_shapes), gradient=_gradient_of(rule), stateful=True, updates=("ref",),
              by_row=True, check=_check_divided if rule is _DIV else check_row_inputs,
              types={"T": rule.types, "Tindices": INDICES})(kernel)  # fmt: skip


def _by_position(name: str, rule: _Rule) -> Callable[..., Tensor]:
    def kernel(
        xp: ArrayModule,
        ref: Array,
        indices: Array,
        updates: Array,
        *,
        use_locking: bool = rule.use_locking,
        bad_indices_policy: str = "",
    ) -> Result:
        return _scatter_nd(xp, rule, ref, indices, updates)

    kernel.__doc__ = (
        f"The variable with the updates combined by {rule.method} at the positions that the indices name: "
        "`[*outer, *inner], [..., depth], [..., *inner] -> [*outer, *inner]`."
    )
    return op(name, _ROWS, infer=_same_ref(_check_position_shapes),
              gradient=_gradient_of(rule), stateful=True, updates=("ref",),
              by_row=True, check=check_position_inputs,
              types={"T": rule.types and NUMBERS, "Tindices": INDICES})(kernel)  # fmt: skip


def _resource_by_row(name: str, rule: _Rule) -> Any[..., Tensor]:
    def kernel(xp: ArrayModule, resource: Array, indices: Array, updates: Array, *, dtype: DType) -> Result:
        return _scatter(xp, rule, resource, indices, updates)

    kernel.__doc__ = (
        f"Combine the updates by {rule.method} into the rows that the indices name: `scalar resource, [...], [..., *inner] ->`."
    )
    return op(name, _RESOURCE_ROWS, infer=_of_handle(_check_handle_rows), gradient=None, stateful=True, updates=("resource",),
              by_row=True, check=_check_divided if rule is _DIV else check_row_inputs,
              types={"dtype": rule.types and NUMBERS, "Tindices": INDICES})(kernel)  # fmt: skip


def _resource_by_position(name: str, rule: _Rule) -> Any[..., Tensor]:
    def kernel(
        xp: ArrayModule, ref: Array, indices: Array, updates: Array, *, use_locking: bool = True, bad_indices_policy: str = ""
    ) -> Result:
        return _scatter_nd(xp, rule, ref, indices, updates)

    kernel.__doc__ = (
        f"Combine the updates by {rule.method} at the positions that the indices name: "
        "`scalar resource, [..., depth], [..., *inner] ->`."
    )
    return op(name, _RESOURCE_POSITIONS, infer=_of_handle(_check_position_shapes), gradient=None, stateful=True,
              updates=("ref",), by_row=True, check=check_position_inputs,
              types={"T": rule.types and (NUMBERS if rule in (_MIN, _MAX) else _ADDABLE),
                     "Tindices": INDICES})(kernel)  # fmt: skip


scatter_update_node = _by_row("ScatterUpdate", _UPDATE)
scatter_add_node = _by_row("ScatterAdd", _ADD)
scatter_sub_node = _by_row("ScatterSub", _SUB)
scatter_mul_node = _by_row("ScatterMul", _MUL)
scatter_div_node = _by_row("ScatterDiv", _DIV)
scatter_min_node = _by_row("ScatterMin", _MIN)
scatter_max_node = _by_row("ScatterMax", _MAX)
scatter_nd_update_node = _by_position("ScatterNdUpdate", _UPDATE)
scatter_nd_add_node = _by_position("ScatterNdAdd", _ADD)
scatter_nd_sub_node = _by_position("ScatterNdSub", _SUB)
scatter_nd_min_node = _by_position("ScatterNdMin", _MIN)
scatter_nd_max_node = _by_position("ScatterNdMax", _MAX)
resource_scatter_update = _resource_by_row("ResourceScatterUpdate", _UPDATE)
resource_scatter_add = _resource_by_row("ResourceScatterAdd", _ADD)
resource_scatter_sub = _resource_by_row("ResourceScatterSub", _SUB)
resource_scatter_mul = _resource_by_row("ResourceScatterMul", _MUL)
resource_scatter_div = _resource_by_row("ResourceScatterDiv", _DIV)
resource_scatter_min = _resource_by_row("ResourceScatterMin", _MIN)
resource_scatter_max = _resource_by_row("ResourceScatterMax", _MAX)
resource_scatter_nd_update = _resource_by_position("ResourceScatterNdUpdate", _UPDATE)
resource_scatter_nd_add = _resource_by_position("ResourceScatterNdAdd", _ADD)
resource_scatter_nd_sub = _resource_by_position("ResourceScatterNdSub", _SUB)
resource_scatter_nd_min = _resource_by_position("ResourceScatterNdMin", _MIN)
resource_scatter_nd_max = _resource_by_position("ResourceScatterNdMax", _MAX)


_TOLD_ROWS: Final = """\
Args:
    ref: the variable.
    indices: numbers of rows, int32 or int64, any shape.
    updates: `[*indices.shape, *ref.shape[1:]]` of its dtype, or a scalar.
    use_locking: kept; updates of a variable do not overlap.
    name: the node's name.
"""
_TOLD_POSITIONS: Final = """\
Args:
    ref: the variable.
    indices: positions `[..., k]`, int32 or int64.
    updates: `[*indices.shape[:-1], *ref.shape[k:]]` of its dtype.
    use_locking: kept; updates of a variable do not overlap.
    name: the node's name.
"""


def _function(
    name: str, node: Callable[..., Tensor], resource_node: Any, text: str, locks: bool = False
) -> Callable[..., Tensor]:
    """The public function of an update: its op for a Ref, the one of resources for a resource variable."""
    takes_type = "dtype" in resource_node.op_def.attrs

    def scatter(
        ref: VariableLike, indices: TensorLike, updates: TensorLike, use_locking: bool = locks, name: str | None = None
    ) -> VariableLike:
        if ref.dtype.is_ref:
            return node(ref, indices, updates, name=name, use_locking=use_locking)
        value = convert_to_tensor(updates, ref.dtype)
        typed = {"dtype": ref.dtype} if takes_type else {}
        return ref.lazy_read(resource_node(ref.handle, indices, value, name=name, **typed))

    scatter.__name__ = scatter.__qualname__ = name
    scatter.__doc__ = f"{text}; the result is the variable after that.\n\n{_TOLD_POSITIONS if '_nd_' in name else _TOLD_ROWS}"
    return scatter


scatter_update = _function(
    "scatter_update", scatter_update_node, resource_scatter_update, "`ref[indices[i]] = updates[i]`", locks=True
)
scatter_add = _function("scatter_add", scatter_add_node, resource_scatter_add, "`ref[indices[i]] += updates[i]`")
scatter_sub = _function("scatter_sub", scatter_sub_node, resource_scatter_sub, "`ref[indices[i]] -= updates[i]`")
scatter_mul = _function("scatter_mul", scatter_mul_node, resource_scatter_mul, "`ref[indices[i]] *= updates[i]`")
scatter_div = _function("scatter_div", scatter_div_node, resource_scatter_div, "`ref[indices[i]] /= updates[i]`")
scatter_min = _function(
    "scatter_min", scatter_min_node, resource_scatter_min, "`ref[indices[i]] = min(ref[indices[i]], updates[i])`"
)
scatter_max = _function(
    "scatter_max", scatter_max_node, resource_scatter_max, "`ref[indices[i]] = max(ref[indices[i]], updates[i])`"
)
scatter_nd_update = _function(
    "scatter_nd_update", scatter_nd_update_node, resource_scatter_nd_update,
    "Put `updates` at the positions that the rows of `indices` name", locks=True,
)  # fmt: skip
scatter_nd_add = _function(
    "scatter_nd_add", scatter_nd_add_node, resource_scatter_nd_add,
    "Add `updates` at the positions that the rows of `indices` name",
)  # fmt: skip
scatter_nd_sub = _function(
    "scatter_nd_sub", scatter_nd_sub_node, resource_scatter_nd_sub,
    "Subtract `updates` at the positions that the rows of `indices` name",
)  # fmt: skip
