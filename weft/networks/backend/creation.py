"""tf.keras.backend's variables, placeholders and tensors of random numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from weft.framework.building.aliases import DTypeLike, Nest, ShapeLike, TensorLike, VariableLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.networks.state.defaults import floatx
from weft.networks.state.graph_state import track_variable
from weft.networks.state.own_seeds import own_seed
from weft.ops.array import filling
from weft.ops.array.placeholder import placeholder as graph_placeholder
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import where
from weft.ops.math.casting import cast
from weft.ops.math.comparison import less_equal
from weft.ops.random import functions as random
from weft.ops.sparse.tensors import sparse_placeholder
from weft.ops.variables.variable import Variable

_new_variable: Callable[..., VariableLike] = Variable


def variable(
    value: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, constraint: Nest = None
) -> VariableLike:
    """A variable that Keras initializes when a session first needs it.

    Args:
        value: its first value, an array or a tensor.
        dtype: its dtype; `floatx()` when None.
        name: its name, "Variable" when None.
        constraint: a function of the variable whose value takes its place after an optimizer's step.
    """
    kind = dtypes.as_dtype(dtype or floatx())
    given = np.asarray(value, kind.as_numpy_dtype) if isinstance(value, np.ndarray | float | int | list | tuple) else value
    made = _new_variable(given, dtype=kind, name=name, constraint=constraint, use_resource=True)
    track_variable(made)
    return made


def placeholder(
    shape: ShapeLike = None, ndim: int | None = None, dtype: DTypeLike | None = None, sparse: bool = False,
    name: str | None = None, ragged: bool = False,
) -> Nest:  # fmt: skip
    """A placeholder of a shape, or of a rank.

    Args:
        shape: its shape, None for a size that differs from run to run.
        ndim: its rank, instead of a shape.
        dtype: its dtype; `floatx()` when None.
        sparse: whether it is a SparseTensor.
        name: its name.
        ragged: not used.
    """
    sizes = [None] * ndim if shape is None and ndim else shape
    return (sparse_placeholder if sparse else graph_placeholder)(dtypes.as_dtype(dtype or floatx()), sizes, name=name)


def zeros(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> VariableLike:
    """A variable of zeros.

    Args:
        shape: its shape, all sizes known.
        dtype: its dtype; `floatx()` when None.
        name: its name.
    """
    return variable(filling.zeros(shape, dtypes.as_dtype(dtype or floatx())), dtype, name)


def ones(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> VariableLike:
    """A variable of ones.

    Args: those of `tf.keras.backend.zeros`.
    """
    return variable(filling.ones(shape, dtypes.as_dtype(dtype or floatx())), dtype, name)


def eye(size: int, dtype: DTypeLike | None = None, name: str | None = None) -> VariableLike:
    """A variable with the identity matrix, `[size, size]`.

    Args:
        size: the number of rows.
        dtype: its dtype; `floatx()` when None.
        name: its name.
    """
    return variable(np.eye(size), dtype, name)


def random_uniform_variable(
    shape: Sequence[int],
    low: float,
    high: float,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> VariableLike:
    """A variable of uniform numbers.

    Args:
        shape: its shape.
        low, high: the bounds of its first values; `high` itself is not drawn.
        dtype: its dtype, a floating one; `floatx()` when None.
        name: its name.
        seed: the op seed.
    """
    return variable(random.random_uniform(shape, low, high, dtypes.as_dtype(dtype or floatx()), seed=seed), dtype, name)


def random_normal_variable(
    shape: Sequence[int],
    mean: float,
    scale: float,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> VariableLike:
    """A variable of normal numbers.

    Args:
        shape: its shape.
        mean, scale: mean and standard deviation of its first values.
        dtype: its dtype, a floating one; `floatx()` when None.
        name: its name.
        seed: the op seed.
    """
    return variable(random.random_normal(shape, mean, scale, dtypes.as_dtype(dtype or floatx()), seed=seed), dtype, name)


def random_normal(
    shape: ShapeLike, mean: float = 0.0, stddev: float = 1.0, dtype: DTypeLike | None = None, seed: int | None = None
) -> Tensor:
    """A tensor of normal numbers, other ones in each run.

    Args:
        shape: its shape.
        mean, stddev: mean and standard deviation.
        dtype: its dtype, a floating one; `floatx()` when None.
        seed: the op seed.
    """
    return random.random_normal(shape, mean, stddev, dtypes.as_dtype(dtype or floatx()), seed=own_seed(seed))


def random_uniform(
    shape: ShapeLike, minval: float = 0.0, maxval: float = 1.0, dtype: DTypeLike | None = None, seed: int | None = None
) -> Tensor:
    """A tensor of uniform numbers, other ones in each run.

    Args:
        shape: its shape.
        minval, maxval: the bounds; `maxval` itself is not drawn.
        dtype: its dtype; `floatx()` when None.
        seed: the op seed.
    """
    return random.random_uniform(shape, minval, maxval, dtypes.as_dtype(dtype or floatx()), seed=own_seed(seed))


def truncated_normal(
    shape: ShapeLike, mean: float = 0.0, stddev: float = 1.0, dtype: DTypeLike | None = None, seed: int | None = None
) -> Tensor:
    """A tensor of normal numbers, other ones in each run; those beyond two standard deviations are drawn again.

    Args: those of `tf.keras.backend.random_normal`.
    """
    return random.truncated_normal(shape, mean, stddev, dtypes.as_dtype(dtype or floatx()), seed=own_seed(seed))


def random_binomial(shape: ShapeLike, p: float = 0.0, dtype: DTypeLike | None = None, seed: int | None = None) -> Tensor:
    """Ones with a probability, in each run others; the rest is zeros.

    Args:
        shape: the shape.
        p: the probability of a one.
        dtype: its dtype; `floatx()` when None.
        seed: the op seed; a number of NumPy's global random state when None.
    """
    kind = dtypes.as_dtype(dtype or floatx())
    drawn = random.random_uniform(shape, dtype=kind, seed=own_seed(seed))
    return where(less_equal(drawn, p), filling.ones(shape, kind), filling.zeros(shape, kind))


def arange(start: int, stop: int | None = None, step: int = 1, dtype: DTypeLike = "int32") -> Tensor:
    """Numbers at equal distances.

    Args:
        start: the first; the bound instead, behind 0, when `stop` is None.
        stop: the bound, which is not reached.
        step: the distance.
        dtype: the type of the result.
    """
    if stop is None and start < 0:
        start = 0
    made: Tensor = range_of(start, stop, step, name="arange")
    return made if dtypes.as_dtype(dtype) == dtypes.int32 else cast(made, dtype)
