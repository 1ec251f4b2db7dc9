"""The shapes of samples: sample, batch and event dimensions, as far as each is known while the graph is built."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weft.framework.nodes.constant_value import constant_dims, constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.constant import constant
from weft.ops.array.shape_ops import reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.math.comparison import equal
from weft.ops.math.reduce_functions import reduce_prod


def as_vector(sizes: Tensor) -> tuple[Tensor, Tensor | np.generic]:
    """The sample shape as a vector, and the number of samples that it asks for.

    Args:
        sizes: a scalar or a vector of int32.

    Raises:
        ValueError: it has more dimensions, or a size is negative.
    """
    known = constant_value(sizes)
    if known is not None and np.any(np.asarray(known) < 0):
        raise ValueError(f"Dimension {np.min(known)} must be >= 0: `sample_shape` says how many samples are drawn.")
    count = reduce_prod(sizes) if known is None else np.prod(known, dtype=np.int32)
    if sizes.shape.ndims is not None and sizes.shape.ndims > 1:
        raise ValueError("Input is neither scalar nor vector.")
    if sizes.shape.ndims == 1:
        return sizes, count
    if known is not None:
        return constant(np.ravel(known).astype(np.int32), name="sample_shape"), count
    return reshape(sizes, [-1]), count


def set_known_shape(samples: Tensor, sample_shape: Tensor, batch: TensorShape, event: TensorShape) -> Tensor:
    """`samples` with every dimension set that the three parts of its shape tell."""
    sample_dims = constant_dims(sample_shape)
    samples.set_shape(TensorShape(sample_dims).concatenate(batch).concatenate(event))
    rank = samples.shape.ndims
    if rank is None:
        return samples
    if sample_dims is not None:
        samples.set_shape([*sample_dims, *[None] * (rank - len(sample_dims))])
    if event.ndims is not None:
        samples.set_shape([*[None] * (rank - event.ndims), *event.as_list()])
    return samples


def is_scalar(known: TensorShape, dynamic: Callable[[], Tensor]) -> bool | Tensor:
    """Whether a shape has no dimensions; `dynamic` makes its tensor where the graph does not tell."""
    if known.ndims is not None:
        return known.ndims == 0
    sizes = dynamic()
    if sizes.shape.ndims is not None and sizes.shape.as_list()[0] is not None:
        return sizes.shape.as_list() == [0]
    return equal(shape_of(sizes)[0], 0)
