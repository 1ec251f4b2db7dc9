"""Conversions: what stands for several tensors in a fetch or a feed, by class; programs may register classes of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from weft.framework.composites.sparse_tensor import SparseTensor, SparseTensorValue
from weft.framework.graphs.indexed_slices import IndexedSlices, IndexedSlicesValue
from weft.framework.nodes.operation import Tensor
from weft.ops.ragged.tensor import RaggedTensor
from weft.ops.ragged.value import RaggedTensorValue, value_of

Fetch = Callable[[Any], tuple[Sequence[Any], Callable[[Sequence[Any]], Any]]]
Feed = Callable[[Any, Any], Sequence[tuple[Any, Any]]]
PartialFeed = Callable[[Any], Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Conversion:
    """How instances of a class are fetched and fed."""

    kind: type
    fetch: Fetch
    feed: Feed | None
    feed_for_partial_run: PartialFeed | None


_CONVERSIONS: Final[list[Conversion]] = []


def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: Fetch,
    feed_function: Feed | None = None,
    feed_function_for_partial_run: PartialFeed | None = None,
) -> None:
    """Let sessions fetch and feed instances of a class.

    Args:
        tensor_type: the class, with its subclasses.
        fetch_function: from an instance to the graph elements that are fetched for it, and the function that makes the result
            of their values.
        feed_function: from an instance and the value that is fed for it to (tensor, value) pairs.
        feed_function_for_partial_run: from an instance to the tensors that are fed for it.

    Raises:
        ValueError: the class, or one below it, is registered.
    """
    for conversion in _CONVERSIONS:
        if issubclass(conversion.kind, tensor_type):
            raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    _CONVERSIONS.insert(0, Conversion(tensor_type, fetch_function, feed_function, feed_function_for_partial_run))


def conversion_for(item: object) -> Conversion | None:
    """The conversion for an item of a fetch or a feed; None when it stands for itself."""
    return next((conversion for conversion in _CONVERSIONS if isinstance(item, conversion.kind)), None)


def _sparse_parts(tensor: SparseTensor) -> list[Any]:
    return [tensor.indices, tensor.values, tensor.dense_shape]


def _slices_parts(slices: IndexedSlices) -> list[Tensor]:
    return [slices.values, slices.indices] + ([] if slices.dense_shape is None else [slices.dense_shape])


def _fetch_slices(slices: IndexedSlices) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
    missing = () if slices.dense_shape is not None else (None,)
    return _slices_parts(slices), lambda values: IndexedSlicesValue(*values, *missing)


def _feed_sparse(tensor: SparseTensor, value: Any) -> list[tuple[Any, Any]]:
    name = tensor.indices.op.name.rpartition("/")[0]
    if isinstance(value, SparseTensor):
        raise TypeError(
            f"Cannot feed a value of type SparseTensor for the SparseTensor {name!r}: its parts have values in a run only. "
            "Feed what session.run(it) gives, a tf.SparseTensorValue(indices, values, dense_shape)"
        )
    if isinstance(value, np.ndarray | int | float | str | bytes):
        raise TypeError(
            f"Cannot feed a value of type {type(value).__name__} for the SparseTensor {name!r}: feed a "
            "tf.SparseTensorValue(indices, values, dense_shape), or a tuple of the three"
        )
    parts = list(value)
    if parts and isinstance(parts[0], list | tuple) and not any(isinstance(row, list | tuple | np.ndarray) for row in parts[0]):
        raise ValueError(
            f"Cannot feed value of shape ({len(parts[0])},) for Tensor {tensor.indices.name!r}, which has shape "
            f"{str(tensor.indices.get_shape())!r}: a value for the SparseTensor {name!r} has three parts, "
            "tf.SparseTensorValue(indices, values, dense_shape), and the indices have a row, such as [row, column], for each "
            "of the values"
        )
    return list(zip(_sparse_parts(tensor), parts, strict=False))


# A value may leave out the shape of a sparse key that has a constant one, or have None for one that its key has not.
register_session_run_conversion_functions(
    SparseTensor,
    lambda tensor: (_sparse_parts(tensor), lambda values: SparseTensorValue(*values)),
    _feed_sparse,
    _sparse_parts,
)
register_session_run_conversion_functions(
    IndexedSlices, _fetch_slices, lambda slices, value: list(zip(_slices_parts(slices), value, strict=False)), _slices_parts
)


def _ragged_parts(tensor: RaggedTensor) -> list[Tensor]:
    return [tensor.flat_values, *tensor.nested_row_splits]


def _feed_ragged(tensor: RaggedTensor, value: object) -> list[tuple[Tensor, object]]:
    if not isinstance(value, RaggedTensorValue) or value.ragged_rank != tensor.ragged_rank:
        raise TypeError(
            f"feed_dict: {tensor} takes a RaggedTensorValue of {tensor.ragged_rank} ragged dimension(s), as "
            f"tf.ragged.constant_value makes it, got {value!r}"
        )
    return list(zip(_ragged_parts(tensor), [value.flat_values, *value.nested_row_splits], strict=True))


register_session_run_conversion_functions(
    RaggedTensor, lambda tensor: (_ragged_parts(tensor), value_of), _feed_ragged, _ragged_parts
)
