"""Orders and positions: reversing, masking, sorting, searching, repeating, grids, edit distances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, DTypeLike, DynamicShape, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.padding import slice_node
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import boolean_mask, where_v2
from weft.ops.array.shape_ops import INDEX, expand_dims, rank, reshape, shape_internal, size_internal
from weft.ops.array.slicing import strided_slice_node
from weft.ops.array.tiling import broadcast_to, tile
from weft.ops.array.topk import top_k_node
from weft.ops.array.transposing import transpose
from weft.ops.declaration import op, rank_of
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, less, maximum
from weft.ops.math.elementwise import mul, neg
from weft.ops.math.reduce_functions import reduce_max
from weft.ops.traced_checks import note_wrong

# Reversing and masking.


def _reversed_shape(node: Operation) -> list[Dims]:
    dims, lengths = node.inputs[0].dims, node.inputs[1].dims
    along, batch = node.attrs["seq_dim"], node.attrs["batch_dim"]
    if dims is not None:
        for what, axis in (("seq_dim", along), ("batch_dim", batch)):
            if axis >= len(dims):
                raise ValueError(f"{what} must be < input rank: {axis} vs. {len(dims)}")
        if lengths is not None and len(lengths) != 1:
            raise ValueError(f"Shape must be rank 1 but is rank {len(lengths)}")
        if lengths is not None and None not in (dims[batch], lengths[0]) and dims[batch] != lengths[0]:
            raise ValueError(f"Dimensions must be equal, but are {dims[batch]} and {lengths[0]}")
        if lengths is not None and dims[batch] is None:
            dims = (*dims[:batch], lengths[0], *dims[batch + 1 :])
    return [dims]


def _check_lengths(node: Operation, input: Array, seq_lengths: Array) -> None:
    along = node.attrs["seq_dim"]
    dims = node.inputs[0].dims if input is None else input.shape
    if seq_lengths is None or dims is None or dims[along] is None:
        return
    _check_ends(np.ravel(seq_lengths).tolist(), dims[along], along)


def _check_ends(lengths: Sequence[int], size: int, axis: int) -> None:
    for index, length in enumerate(lengths):
        if length < 0:
            raise InvalidArgumentError.of(f"seq_lens({index}) < 0: it is {length}")
        if length > size:
            raise InvalidArgumentError.of(f"seq_lens({index}) > input.dims({axis}): it is {length}, and these are {size}")


def _reverse_sequence_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [reverse_sequence_node(grad, node.inputs[1], seq_dim=node.attrs["seq_dim"], batch_dim=node.attrs["batch_dim"]), None]


@op("ReverseSequence", "input: T, seq_lengths: Tlen -> output: T",
    ranks={"seq_lengths": 1}, infer=_reversed_shape, types={"Tlen": INDEX},
    check=_check_lengths,
    defaults={"Tlen": dtypes.int64}, gradient=_reverse_sequence_gradient)  # fmt: skip
def reverse_sequence_node(xp: ArrayModule, input: Array, seq_lengths: Array, *, seq_dim: int, batch_dim: int = 0) -> Result:
    """The first `seq_lengths[i]` elements along `seq_dim` of batch entry i in opposite order.

    `[..., batch, ..., time, ...], [batch] -> [..., batch, ..., time, ...]`.
    """
    if batch_dim == seq_dim:
        raise InvalidArgumentError.of(f"batch_dim == seq_dim == {seq_dim}")
    for what, axis in (("seq_dim", seq_dim), ("batch_dim", batch_dim)):
        if axis >= len(input.shape):
            raise InvalidArgumentError.of(f"{what} must be < input.dims(): {axis} vs. {len(input.shape)}")
    if len(seq_lengths) != input.shape[batch_dim]:
        raise InvalidArgumentError.of(
            f"len(seq_lens) != input.dims({batch_dim}), ({len(seq_lengths)} vs. {input.shape[batch_dim]})"
        )
    size = input.shape[seq_dim]
    if xp is np:
        _check_ends(seq_lengths.tolist(), size, seq_dim)
    positions = np.arange(size)
    lengths = seq_lengths[:, None]
    source = xp.where(positions < lengths, lengths - 1 - positions, positions)
    if seq_dim < batch_dim:
        source = source.T
    shape = [1] * len(input.shape)
    shape[batch_dim], shape[seq_dim] = input.shape[batch_dim], size
    return xp.take_along_axis(input, xp.reshape(source, tuple(shape)), seq_dim)


def reverse_sequence(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Tensor:
    """Reverse the first `seq_lengths[i]` elements along `seq_axis` of each entry along `batch_axis` (0 by default).

    Args:
        input: [*sizes] tensor of any dtype.
        seq_lengths: [sizes[batch_axis]] tensor of int32 or int64.
        seq_axis: the dimension along which the elements of a sequence stand.
        batch_axis: the dimension along which the sequences stand.
        seq_dim, batch_dim: older names of the two.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: `seq_axis` is left out.
    """
    along = seq_dim if seq_axis is None else seq_axis
    batch = batch_dim if batch_axis is None else batch_axis
    if along is None:
        raise ValueError("reverse_sequence: seq_axis must be given")
    return reverse_sequence_node(input, seq_lengths, seq_dim=along, batch_dim=batch or 0, name=name)


def sequence_mask(
    lengths: TensorLike, maxlen: TensorLike | None = None, dtype: DTypeLike = dtypes.bool, name: str | None = None
) -> Tensor:
    """For each length n a row that is true n times and then false, `maxlen` (the greatest length) long.

    Args:
        lengths: [...] tensor of an integer dtype.
        maxlen: integer scalar, the length of a row.
        dtype: of the result, in which true becomes 1.

    Returns:
        [..., maxlen] tensor of `dtype`.

    Raises:
        ValueError: `maxlen` is no scalar.
    """
    with get_default_graph().name_scope(name or "SequenceMask"):
        sizes = convert_to_tensor(lengths)
        if maxlen is None:
            limit: Tensor = maximum(constant(0, sizes.dtype), reduce_max(sizes))
        else:
            limit = convert_to_tensor(maxlen)
        if limit.dims not in (None, ()):
            raise ValueError(f"maxlen must be scalar for sequence_mask, but has shape {limit.shape}")
        row = range_of(constant(0, limit.dtype), limit, constant(1, limit.dtype))
        graph = get_default_graph()
        graph.node_count.total += sizes.dtype is limit.dtype  # TensorFlow casts in any case.
        result = less(row, cast(expand_dims(sizes, -1), limit.dtype))
        kind = dtypes.as_dtype(dtype)
        return result if kind is dtypes.bool else cast(result, kind)


# Sorting and searching.


def sort(values: TensorLike, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """Sort along `axis`, ASCENDING or DESCENDING.

    Args:
        values: [...] tensor of a real dtype.
        axis: the dimension to sort along; one below zero counts from the end.
        direction: 'ASCENDING' or 'DESCENDING'.

    Returns:
        A tensor of the same shape and dtype.
    """
    with get_default_graph().name_scope(name or "sort"):
        return _sorted(values, axis, direction, 0)


def argsort(
    values: TensorLike, axis: int = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Tensor:
    """The positions that sort along `axis`; equal elements keep their order.

    Args:
        values: [...] tensor of a real dtype.
        axis: the dimension to sort along; one below zero counts from the end.
        direction: 'ASCENDING' or 'DESCENDING'.
        stable: has no effect: equal elements keep their order in any case.

    Returns:
        [...] int32 tensor.
    """
    with get_default_graph().name_scope(name or "argsort"):
        return _sorted(values, axis, direction, 1)


def _sorted(values: Array, axis: int, direction: str, output: int) -> Tensor:
    tensor = convert_to_tensor(values, name="values")
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"{direction} should be one of ASCENDING, DESCENDING")
    count = rank_of(tensor)
    if count is not None and not -count <= axis < count:
        raise ValueError(f"axis = {axis} not in [{-count}, {count})")
    # TensorFlow's nodes, one for one: the seeds of what is built later count them.
    constant(axis, name="axis")
    turned = neg(tensor) if direction == "ASCENDING" else tensor
    size = shape_internal(turned)[axis]
    dimensions = rank(turned, name="Rank")
    if axis == -1 or (count is not None and axis % count == count - 1):
        found = top_k_node(turned, size)[output]
    else:
        order = _swapped_dimensions(dimensions, axis) if count is None else _swapped_order(count, axis)
        found = transpose(top_k_node(transpose(turned, order), size)[output], order)
    return neg(found) if direction == "ASCENDING" and output == 0 else found


def _swapped_order(count: int, axis: int) -> Tensor:
    swapped = list(range(count))
    swapped[axis % count], swapped[-1] = count - 1, axis % count
    return constant(swapped, name="transposition")


def _swapped_dimensions(count: Tensor, axis: int) -> Tensor:
    """The order in which the dimension changes its place with the last one, where only a run tells how many there are."""
    places, last, own = range_of(count), count - 1, axis if axis >= 0 else count + axis
    return where_v2(equal(places, own), last, where_v2(equal(places, last), own, places))


def _bounds_shape(node: Operation) -> list[Dims]:
    return [node.inputs[1].dims]


def _search(xp: ArrayModule, sorted_inputs: Array, values: Array, side: str) -> Array:
    columns = sorted_inputs[:, None, :]
    wanted = values[:, :, None]
    return xp.sum(columns < wanted if side == "left" else columns <= wanted, -1)


@op("LowerBound", "sorted_inputs: T, values: T -> output: out_type",
    ranks={"sorted_inputs": 2, "values": 2}, infer=_bounds_shape, gradient=None,
    types={"out_type": INDEX})  # fmt: skip
def lower_bound(xp: ArrayModule, sorted_inputs: Array, values: Array, *, out_type: DType = dtypes.int32) -> Result:
    """For each value of a row how many elements of the sorted row are less: `[rows, n], [rows, m] -> [rows, m]`."""
    return _search(xp, sorted_inputs, values, "left")


@op("UpperBound", "sorted_inputs: T, values: T -> output: out_type",
    ranks={"sorted_inputs": 2, "values": 2}, infer=_bounds_shape, gradient=None,
    types={"out_type": INDEX})  # fmt: skip
def upper_bound(xp: ArrayModule, sorted_inputs: Array, values: Array, *, out_type: DType = dtypes.int32) -> Result:
    """For each value of a row how many elements of the sorted row are not greater.

    `[rows, n], [rows, m] -> [rows, m]`.
    """
    return _search(xp, sorted_inputs, values, "right")


def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Where to insert `values` into the sorted innermost dimension: before (left) or after (right) equal elements.

    Args:
        sorted_sequence: [..., n] tensor of a real dtype, sorted along its last dimension.
        values: [..., m] tensor of the same dtype and leading sizes.
        side: 'left' or 'right'.
        out_type: int32 or int64.

    Returns:
        [..., m] tensor of `out_type`, from 0 to n.

    Raises:
        ValueError: `side` is neither of the two.
    """
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
    sequence = convert_to_tensor(sorted_sequence)
    wanted = convert_to_tensor(values, sequence.dtype)
    length = strided_slice_node(shape_internal(sequence), [-1], [0], [1], end_mask=1)
    count = strided_slice_node(shape_internal(wanted), [-1], [0], [1], end_mask=1)
    rows, flat = reshape(sequence, concat([[-1], length], 0)), reshape(wanted, concat([[-1], count], 0))
    found = (lower_bound if side == "left" else upper_bound)(rows, flat, out_type=out_type, name=name)
    return reshape(found, shape_internal(wanted))


# Repeating and grids.


def repeat(input: TensorLike, repeats: TensorLike, axis: int | None = None, name: str | None = None) -> Tensor:
    """Repeat each element `repeats` times along `axis`, or of the flattened tensor when it is None.

    Args:
        input: [...] tensor of any dtype.
        repeats: scalar of int32 or int64, or a vector with a number for each entry along `axis`.
        axis: the dimension to repeat along; None to flatten the tensor first.

    Returns:
        A tensor of the same dtype.

    Raises:
        ValueError: `axis` is given and the rank of the input is not known or has no such axis, or the repeats are more than a
            vector, or not as many as the entries.
    """
    with get_default_graph().name_scope(name or "Repeat"):
        data = convert_to_tensor(input, name="data")
        if axis is None:
            data, axis = reshape(data, [-1]), 0
        count = rank_of(data)
        if count is None:
            raise ValueError("repeat: the rank of the input must be known")
        if count and not -count <= axis < count:
            raise ValueError(f"axis={axis} out of bounds: expected {-count}<=axis<{count}")
        times = convert_to_tensor(repeats, name="repeats")
        at = axis % max(count, 1)
        # Seeds of later random nodes go by TensorFlow's count, which moves the axis to the front and back again.
        is_alike, moved = rank_of(times) == 0, 23 if at else 11 * (rank_of(times) is None)
        with get_default_graph().node_count.as_many_as(count + (18 if is_alike else 44 + moved)):
            times = cast(times, dtypes.int32)
            made = _repeat_alike(data, times, at, count) if is_alike else _repeat_each(data, times, at)
        made.set_shape([None if each == at else size for each, size in enumerate(data.shape.as_list())])
        return made


def _repeat_alike(data: Tensor, times: Tensor, axis: int, rank: int) -> Tensor:
    """Every entry along an axis so many times: data[a, n, b], times[] -> [a, n * times, b]."""
    counts = concat([ones([axis + 1], dtypes.int32), reshape(times, [1]), ones([rank - axis - 1], dtypes.int32)], 0)
    wide = tile(expand_dims(data, axis + 1), counts)
    sizes = shape_internal(data)
    return reshape(wide, concat([slice_node(sizes, [0], [axis]), [-1], slice_node(sizes, [axis + 1], [-1])], 0))


def _repeat_each(data: Tensor, times: Tensor, axis: int) -> Tensor:
    """Each entry along an axis its own number of times: data[a, n, b], times[n] (or []; the step tells) -> [a, m, b]."""
    if (rank_of(times) or 0) > 1:
        raise ValueError(f"Shape {times.shape} must have rank at most 1: the repeats are a number, or one for each entry")
    length = data.shape[axis] if rank_of(data) else None
    if rank_of(times) == 1 and length is not None and not length.is_compatible_with(times.shape[0]):
        raise ValueError(
            f"Dimensions {length} and {times.shape[0]} are not compatible: the repeats {times.name} are not one for each "
            f"of the {length} entries along axis {axis}"
        )
    size = strided_slice_node(shape_internal(data), [axis], [axis + 1], [1], shrink_axis_mask=1)
    if rank_of(times) is None:
        times = broadcast_to(times, reshape(size, [1]))
    mask = sequence_mask(times, reduce_max(times))
    positions = mul(expand_dims(range_of(size), -1), cast(mask, dtypes.int32))
    return gather(data, boolean_mask(positions, mask), axis=axis)


def meshgrid(*args: TensorLike, **kwargs: str) -> list[Tensor]:
    """Grids of the coordinates given by vectors; `indexing` is 'xy' (the first two exchanged, by default) or 'ij'.

    Args:
        args: [n_i] tensors of one numeric dtype.
        kwargs: `indexing`, 'xy' or 'ij', and `name`.

    Returns:
        A list with a tensor for each vector, all of the shape [n_2, n_1, n_3, ...], for 'ij' [n_1, n_2, ...].

    Raises:
        TypeError: there is an unknown keyword argument.
        ValueError: `indexing` is neither of the two.
    """
    indexing, name = kwargs.pop("indexing", "xy"), kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError("indexing parameter must be either 'xy' or 'ij'")
    with get_default_graph().name_scope(name):
        count = len(args)
        is_turned = indexing == "xy" and count > 1
        order = [1, 0, *range(2, count)] if is_turned else list(range(count))
        # TensorFlow makes a tensor of an input for each use of it; later random nodes get their seeds by the count.
        conversions = sum(2 * (not isinstance(each, Tensor)) for each in args)
        conversions += count > 0 and not isinstance(args[0], Tensor)
        with get_default_graph().node_count.as_many_as(5 * count + 4 + 4 * is_turned + conversions if count else 0):
            tensors = [convert_to_tensor(each) for each in args]
            sizes = [reshape(size_internal(each), [1]) for each in tensors]
            whole = concat([sizes[axis] for axis in order], 0) if count > 1 else next(iter(sizes), None)
            grids = []
            for index, tensor in enumerate(tensors):
                place = order.index(index)
                flat = reshape(tensor, [1] * place + [-1] + [1] * (count - 1 - place))
                grids.append(mul(flat, ones(whole, tensor.dtype.base_dtype), name="mul"))
            return grids


def _unraveled_shape(node: Operation) -> list[Dims]:
    indices, dims = node.inputs[0].dims, node.inputs[1].dims
    count = None if dims is None else dims[0]
    if indices is None:
        return [None]
    return [(count,)] if indices == () else [(count, *indices)]


def _check_positions(indices: Array, dims: Array) -> None:
    if np.any((indices < 0) | (indices >= np.prod(dims))):
        raise InvalidArgumentError.of("index is out of bound as with dims")


def _check_unraveled(node: Operation, indices: Array, dims: Array) -> None:
    if indices is not None and dims is not None:
        _check_positions(indices, dims)


@op("UnravelIndex", "indices: Tidx, dims: Tidx -> output: Tidx",
    ranks={"dims": 1}, infer=_unraveled_shape, gradient=None, check=_check_unraveled,
    types={"Tidx": INDEX}, defaults={"Tidx": dtypes.int32}, static=("dims",))  # fmt: skip
def unravel_index_node(xp: ArrayModule, indices: Array, dims: Array) -> Result:
    """The coordinates, along a new first dimension, of flat positions in an array of shape `dims`.

    `[...], [rank] -> [rank, ...]`.
    """
    sizes = np.ravel(dims).tolist()
    if xp is np:
        _check_positions(indices, dims)
    else:
        note_wrong((indices < 0) | (indices >= np.prod(sizes)))
    strides = [int(np.prod(sizes[i + 1 :])) for i in range(len(sizes))]
    return xp.stack([indices // stride % size for stride, size in zip(strides, sizes, strict=True)], 0)


def unravel_index(indices: TensorLike, dims: DynamicShape, name: str | None = None) -> Tensor:
    """The coordinates of flat positions in an array of shape `dims`, one row per dimension.

    Args:
        indices: [n] tensor (or a scalar) of int32 or int64.
        dims: [rank] list or tensor of the same dtype.

    Returns:
        [rank, n] tensor of that dtype.
    """
    return unravel_index_node(indices, dims, name=name)
