"""Tensor indexing: StridedSlice with everything that `tensor[...]` takes, and its gradient.

The five masks of the op say, bit by bit of its index vectors, what `begin[i]`, `end[i]` and `strides[i]` mean: `plan`
turns them into Python's own slices, so NumPy and JAX do the rest.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.op_builder import graph_of
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_dims, constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dimension import Dimension
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.array.filling import ones_like
from weft.ops.array.padding import known_rank
from weft.ops.array.selection import boolean_mask
from weft.ops.array.shape_ops import INDEX, cast_index, shape_internal
from weft.ops.array.stacking import stack
from weft.ops.declaration import op, rank_of
from weft.platform.imports.jax_modules import lax

MASKS: Final = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
newaxis: Final = None
# One entry of an index: a slice, an int (which a compiled step may have to work out), None for a new axis, or `...`.
_Entry: TypeAlias = Array
# A bound as a program writes it: a number, a Dimension or a scalar tensor.
_Bound: TypeAlias = Array


def plan(rank: int, begin: Array, end: Array, strides: Array, masks: Mapping[str, int], count: int) -> list[_Entry]:
    """The index per entry: a slice, an int, None for a new axis; `...` where an unknown bound makes it unknown.

    `count` is the length of the index vectors, each of which may be None when its values are not known. The result
    consumes all `rank` dimensions.

    Raises:
        ValueError: there are more indices than dimensions, two ellipses, or a stride of 0.
    """
    flags = {key: [bool(masks[key] >> i & 1) for i in range(count)] for key in MASKS}
    if sum(flags["ellipsis_mask"]) > 1:
        raise ValueError("Multiple ellipses in slice spec not allowed")
    special = [a or b for a, b in zip(flags["ellipsis_mask"], flags["new_axis_mask"], strict=True)]
    left = rank - special.count(False)
    if left < 0:
        raise ValueError(f"Index out of range using input dim {rank}; input has only {rank} dims")
    result: list[_Entry] = []
    seen_ellipsis = False
    for i in range(count):
        if flags["ellipsis_mask"][i]:
            result.extend([slice(None)] * left)
            seen_ellipsis = True
        elif flags["new_axis_mask"][i]:
            result.append(None)
        else:
            result.append(_entry(i, begin, end, strides, flags))
    return result if seen_ellipsis else result + [slice(None)] * left


def _entry(i: int, begin: Array, end: Array, strides: Array, flags: Mapping[str, list[bool]]) -> _Entry:
    stride = None if strides is None else int(strides[i])
    if stride == 0:
        raise ValueError(f"strides[{i}] must be non-zero")
    if flags["shrink_axis_mask"][i]:
        if stride is not None and stride < 0:
            raise ValueError("only stride 1 allowed on non-range indexing.")
        return ... if begin is None else int(begin[i])
    bounds: list[int | None] = []
    for values, mask in ((begin, "begin_mask"), (end, "end_mask")):
        if not flags[mask][i] and values is None:
            return slice(..., ..., ...)
        bounds.append(None if flags[mask][i] else int(values[i]))
    return slice(..., ..., ...) if stride is None else slice(bounds[0], bounds[1], stride)


def _sliced_shape(node: Operation, source: Dims, vectors: tuple[Tensor, ...]) -> Dims:
    count = known_rank(*vectors)
    if source is None or count is None:
        return None
    begin, end, strides = (constant_value(each) for each in vectors)
    entries = plan(len(source), begin, end, strides, node.attrs, count)
    result: list[int | None] = []
    axis = 0
    for entry in entries:
        if entry is None:
            result.append(1)
            continue
        size = source[axis]
        if isinstance(entry, slice):
            if size is not None and entry.start is not ...:
                result.append(len(range(*entry.indices(size))))
            else:
                result.append(size if entry == slice(None) else None)
        elif entry is not ... and size is not None and not -size <= entry < size:
            raise ValueError(f"slice index {entry} of dimension {axis} out of bounds.")
        axis += 1
    return tuple(result)


def _strided_shape(node: Operation) -> list[Dims]:
    lengths = [tensor.dims[0] for tensor in node.inputs[1:4] if tensor.dims]
    known = {length for length in lengths if length is not None}
    if len(known) > 1:
        raise ValueError(
            f"Dimension 0 in both shapes must be equal, but are {' and '.join(map(str, sorted(known)))}: begin, end and "
            "strides have a number for each dimension that is sliced"
        )
    return [_sliced_shape(node, node.inputs[0].dims, tuple(node.inputs[1:4]))]


def _masks_of(node: Operation) -> dict[str, int]:
    return {key: node.attrs[key] for key in MASKS}


def _strided_gradient(node: Operation, grad: Tensor) -> Gradients:
    source, begin, end, strides = node.inputs
    sizes = shape_internal(source, out_type=begin.dtype)
    return [strided_slice_grad(sizes, begin, end, strides, grad, **_masks_of(node)), None, None, None]


def _index(shape: tuple[int, ...], begin: Array, end: Array, strides: Array, masks: tuple[int, ...]) -> tuple[_Entry, ...]:
    entries, singles = _known_index(len(shape), tuple(begin.tolist()), tuple(end.tolist()), tuple(strides.tolist()), masks)
    for axis, entry in singles:
        if not -shape[axis] <= entry < shape[axis]:
            raise InvalidArgumentError.of(f"slice index {entry} of dimension {axis} out of bounds.")
    return entries


@functools.lru_cache(maxsize=1024)
def _known_index(
    rank: int, begin: tuple[int, ...], end: tuple[int, ...], strides: tuple[int, ...], masks: tuple[int, ...]
) -> tuple[tuple[_Entry, ...], list[tuple[int, int]]]:
    """The index, and where it takes single elements: of which dimensions, and which.

    Kept for any sizes: interpreted loops take the same parts of sequences of many lengths.
    """
    try:
        entries = plan(rank, begin, end, strides, dict(zip(MASKS, masks, strict=True)), len(strides))
    except ValueError as error:
        raise InvalidArgumentError.of(str(error)) from None
    of_axes = enumerate(entry for entry in entries if entry is not None)
    return tuple(entries), [(axis, entry) for axis, entry in of_axes if isinstance(entry, int)]


def _moving(node: Operation) -> frozenset[str]:
    """The index vectors that need not be known: the shape does not depend on single indices among whole dimensions.

    So `x[i]` in a loop is compiled. Elsewhere such a node stays on the host, where an index out of range is an error.
    """
    if not node.graph.building_function:
        return frozenset()
    strides = constant_value(node.inputs[-1] if node.type == "StridedSlice" else node.inputs[3])
    if strides is None:
        return frozenset()
    attrs = node.attrs
    whole = attrs["begin_mask"] & attrs["end_mask"]
    single = attrs["shrink_axis_mask"] | attrs["new_axis_mask"] | attrs["ellipsis_mask"]
    fits = all(single >> i & 1 or (whole >> i & 1 and strides[i] == 1) for i in range(len(strides)))
    return frozenset(("begin", "end")) if fits else frozenset()


def _moving_index(rank: int, begin: Array, strides: Array, given_masks: tuple[int, ...]) -> tuple[_Entry, ...]:
    """The index for vectors of which only the compiled step knows the values; see `_moving`."""
    masks = dict(zip(MASKS, given_masks, strict=True))
    singles = [
        i for i in range(len(strides))
        if masks["shrink_axis_mask"] >> i & 1 and not (masks["new_axis_mask"] | masks["ellipsis_mask"]) >> i & 1
    ]  # fmt: skip
    places = iter(singles)
    entries = plan(rank, None, None, strides, masks, len(strides))
    return tuple(begin[next(places)] if entry is ... else entry for entry in entries)


def _strided_elements(node: Operation) -> Dims:
    """The elements of a slice, or the one element, of a vector of sizes."""
    if node.attrs["new_axis_mask"] or node.attrs["ellipsis_mask"]:
        return None
    source = constant_dims(node.inputs[0])
    begin, end, strides = (constant_value(tensor) for tensor in node.inputs[1:])
    if source is None or begin is None or len(begin) != 1:
        return None
    if node.attrs["shrink_axis_mask"]:
        at = int(begin[0])
        return (source[at],) if -len(source) <= at < len(source) else None
    if end is None or strides is None:
        return None
    first = None if node.attrs["begin_mask"] & 1 else int(begin[0])
    last = None if node.attrs["end_mask"] & 1 else int(end[0])
    return source[first : last : int(strides[0])]


@op("StridedSlice", "input: T, begin: Index, end: Index, strides: Index -> output: T",
    ranks={"begin": 1, "end": 1, "strides": 1}, memory_bound=True,
    known_elements=_strided_elements, infer=_strided_shape,
    gradient=_strided_gradient, static=("begin", "end", "strides"), dynamic=_moving,
    types={"Index": (dtypes.int16, *INDEX)})  # fmt: skip
def strided_slice_node(
    xp: ArrayModule,
    input: Array,
    begin: Array,
    end: Array,
    strides: Array,
    *,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Result:
    """The elements that the index vectors and masks select: `[*sizes], [k], [k], [k] -> [*selected]`."""
    masks = begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    if not len(begin) == len(end) == len(strides):
        raise InvalidArgumentError.of(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
            f"[{len(begin)}], [{len(end)}], and [{len(strides)}] instead."
        )
    if xp is not np and not isinstance(begin, np.ndarray):
        return xp.asarray(input)[_moving_index(len(input.shape), begin, strides, masks)]
    result = input[_index(tuple(input.shape), begin, end, strides, masks)]
    return result if isinstance(result, np.ndarray) or xp is not np else np.asarray(result, input.dtype)


@op("StridedSliceGrad", "shape: Index, begin: Index, end: Index, strides: Index, dy: T -> output: T",
    ranks={"shape": 1},
    infer=lambda node: [_grad_shape(node)], static=("shape", "begin", "end", "strides"), dynamic=_moving,
    types={"Index": INDEX}, gradient=lambda node, grad: [None, None, None, None,
                                 strided_slice_node(grad, *node.inputs[1:4], **_masks_of(node))])  # fmt: skip
def strided_slice_grad(
    xp: ArrayModule,
    shape: Array,
    begin: Array,
    end: Array,
    strides: Array,
    dy: Array,
    *,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Result:
    """Zeros of `shape` with `dy` where the slice was taken: `[rank], [k], [k], [k], [*selected] -> [*shape]`."""
    masks = begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
    sizes = tuple(np.asarray(shape).tolist())
    if xp is not np and not isinstance(begin, np.ndarray):
        place = tuple(entry for entry in _moving_index(len(sizes), begin, strides, masks) if entry is not None)
        kept = [size for size, entry in zip(sizes, place, strict=True) if isinstance(entry, slice)]
        return xp.zeros(sizes, dy.dtype).at[place].set(xp.reshape(dy, kept))
    index = _index(sizes, begin, end, strides, masks)
    if xp is np:
        result = np.zeros(sizes, dy.dtype)
        result[index] = dy
        return result
    return _spread(xp, sizes, [entry for entry in index if entry is not None], dy)


def _spread(xp: ArrayModule, sizes: tuple[int, ...], index: list[_Entry], dy: Array) -> Array:
    # Padding with gaps instead of a scatter: XLA fuses it with what uses it.
    margins, flipped, kept = [], [], []
    for axis, (size, entry) in enumerate(zip(sizes, index, strict=True)):
        start, stop, step = (entry % size, entry % size + 1, 1) if isinstance(entry, int) else entry.indices(size)
        positions = range(start, stop, step)
        kept.append(len(positions))
        if step < 0:
            flipped.append(axis)
            positions = positions[::-1]
        if not len(positions):
            margins.append((0, size, 0))
        else:
            margins.append((positions[0], size - 1 - positions[-1], abs(step) - 1))
    dy = xp.flip(xp.reshape(dy, tuple(kept)), tuple(flipped))
    return lax.pad(dy, xp.zeros((), dy.dtype), margins)


def _grad_shape(node: Operation) -> Dims:
    value = constant_value(node.inputs[0])
    if value is not None:
        return tuple(int(size) for size in value)
    rank = known_rank(node.inputs[0])
    return None if rank is None else (None,) * rank


def strided_slice(
    input_: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike | None = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Take the elements from `begin` to `end` in steps of `strides`; the masks are bit sets over the dimensions.

    A bit in `begin_mask` or `end_mask` drops that bound, in `ellipsis_mask` stands for `...`, in `new_axis_mask` for a
    new dimension, and in `shrink_axis_mask` for an index that removes its dimension.

    Args:
        input_: [*sizes] tensor of any dtype, or a variable.
        begin, end: [n] tensors of int32 or int64, one bound for each place of the index.
        strides: [n] tensor of their dtype, no zeros; ones when None.
        begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask: ints, in which bit i is for place i.
        var: the variable that `input_` is the value of, so that the slice can be assigned to.

    Returns:
        A tensor of the same dtype.

    Raises:
        ValueError: a stride is zero, or there are more places than dimensions.
        InvalidArgumentError: in a run, the same of numbers that only the run tells, or an index is out of bounds whose
            dimension is removed.
    """
    if strides is None:
        strides = ones_like(begin)
    return strided_slice_node(
        input_, begin, end, strides, begin_mask=begin_mask, end_mask=end_mask, ellipsis_mask=ellipsis_mask,
        new_axis_mask=new_axis_mask, shrink_axis_mask=shrink_axis_mask, name=name,
    )  # fmt: skip


_INDEX_ERROR: Final = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid indices"
)

_SEVERAL: Final = ". tf.gather takes several rows; tf.gather_nd, or a tf.one_hot mask, takes one element of each row"

_OF_DICT: Final = ". This is a tensor, and no dict of tensors: what made it, such as an input_fn, returned no {name: tensor}"


def _check_index(index: Array) -> None:
    if isinstance(index, int | np.integer | Dimension) and not isinstance(index, bool):
        return
    tensor = index if isinstance(index, Tensor) else getattr(index, "_as_graph_element", lambda: None)()
    scalar_array = isinstance(index, np.ndarray) and index.shape == () and index.dtype.kind in "iu"
    rank = rank_of(tensor) if isinstance(tensor, Tensor) and tensor.dtype.base_dtype.is_integer else -1
    is_index = rank in (None, 0)
    if not is_index and not scalar_array:
        meant = _SEVERAL if rank is not None and rank > 0 else _OF_DICT if isinstance(index, str) else ""
        raise TypeError(f"{_INDEX_ERROR}, got {index!r}{meant}")


def _is_mask(spec: Array) -> bool:
    if isinstance(spec, Tensor):
        return spec.dtype.base_dtype is dtypes.bool
    return isinstance(spec, np.ndarray) and spec.dtype == np.bool_


def slice_helper(tensor: TensorLike, slice_spec: _Entry, var: TensorLike | None = None) -> Tensor:
    """`tensor[slice_spec]`: ints, slices, `...`, newaxis, with scalar integer tensors in them, or one boolean mask."""
    if isinstance(slice_spec, bool) or _is_mask(slice_spec):
        return boolean_mask(tensor, slice_spec)
    specs = slice_spec if isinstance(slice_spec, list | tuple) else (slice_spec,)
    begin: list[_Bound] = []
    end: list[_Bound] = []
    strides: list[_Bound] = []
    masks = dict.fromkeys(MASKS, 0)
    for i, spec in enumerate(specs):
        bit = 1 << i
        if isinstance(spec, slice):
            for part in (spec.start, spec.stop, spec.step):
                if part is not None:
                    _check_index(part)
            begin.append(0 if spec.start is None else spec.start)
            end.append(0 if spec.stop is None else spec.stop)
            strides.append(1 if spec.step is None else spec.step)
            masks["begin_mask"] |= bit if spec.start is None else 0
            masks["end_mask"] |= bit if spec.stop is None else 0
        elif spec is ... or spec is None:
            begin.append(0)
            end.append(0)
            strides.append(1)
            masks["ellipsis_mask" if spec is ... else "new_axis_mask"] |= bit
        else:
            _check_index(spec)
            begin.append(spec)
            end.append(spec + 1)
            strides.append(1)
            masks["shrink_axis_mask"] |= bit
    graph = graph_of([tensor])
    kind = _index_type((*begin, *end, *strides))
    with graph.as_default(), graph.name_scope("strided_slice") as scope:
        vectors = [_vector(values, kind) for values in (begin, end, strides)]
        return strided_slice_node(tensor, *vectors, **masks, name=scope)


def _index_type(values: tuple[_Bound, ...]) -> DType:
    found = {each.dtype.base_dtype for each in values if isinstance(each, Tensor)}
    return dtypes.int64 if dtypes.int64 in found else dtypes.int32


def _vector(values: list[_Bound], kind: DType) -> Tensor:
    if not any(isinstance(value, Tensor) or hasattr(value, "_as_graph_element") for value in values):
        graph_of([]).node_count.total += kind is dtypes.int64  # TensorFlow casts them.
        return convert_to_tensor(np.array([int(value) for value in values], kind.as_numpy_dtype), name="stack")
    if len({value.dtype.base_dtype for value in values if isinstance(value, Tensor)}) > 1:
        values = [_as_index(value, kind) if isinstance(value, Tensor) else value for value in values]
    return _as_index(stack(values, name="stack"), kind)


def _as_index(value: Tensor, kind: DType) -> Tensor:
    return value if value.dtype.base_dtype is kind else cast_index(value, kind)


Tensor.override_operator("__getitem__", slice_helper)
