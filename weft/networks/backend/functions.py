"""tf.keras.backend's functions of tensors: TensorFlow's own, under the names and defaults of Keras."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from weft.autodiff.gradients import gradients as gradients_of
from weft.framework import dtypes
from weft.framework.aliases import Array, AxisLike, DTypeLike, Nest, SessionLike, ShapeLike, TensorLike, VariableLike
from weft.framework.operation import Tensor
from weft.framework.sparse_tensor import SparseTensor
from weft.framework.tensor_conversion import convert_to_tensor
from weft.networks.engine.calls.history import history_of, is_tensor
from weft.networks.layers.merging import batch_dot as dot_over_axes
from weft.networks.state.defaults import floatx
from weft.networks.state.graph_state import track_variable
from weft.networks.state.sessions import batch_get_value, batch_set_value, get_session
from weft.ops.array import filling
from weft.ops.array.joining import concat
from weft.ops.array.placeholder import placeholder as graph_placeholder
from weft.ops.array.shape_ops import expand_dims as with_axis
from weft.ops.array.shape_ops import reshape as reshaped
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.transposing import transpose as transposed
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group
from weft.ops.math import reduce_functions as reductions
from weft.ops.math.casting import cast as cast_to
from weft.ops.math.clip import clip_by_value
from weft.ops.math.comparison import maximum
from weft.ops.math.products import matmul
from weft.ops.math.unary import sqrt as root
from weft.ops.nn.dropout import dropout as nn_dropout
from weft.ops.nn.norm import l2_normalize as nn_l2_normalize
from weft.ops.random import functions as random
from weft.ops.sparse.tensors import sparse_placeholder, sparse_tensor_to_dense
from weft.ops.variables.moving_average import assign_moving_average
from weft.ops.variables.variable import Variable

_new_variable: Callable[..., VariableLike] = Variable


def variable(
    value: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, constraint: Nest = None
) -> VariableLike:
    """A variable that Keras initializes when a session first needs it."""
    kind = dtypes.as_dtype(dtype or floatx())
    given = np.asarray(value, kind.as_numpy_dtype) if isinstance(value, np.ndarray | float | int | list | tuple) else value
    made = _new_variable(given, dtype=kind, name=name, constraint=constraint, use_resource=True)
    track_variable(made)
    return made


def placeholder(
    shape: ShapeLike = None, ndim: int | None = None, dtype: DTypeLike | None = None, sparse: bool = False,
    name: str | None = None, ragged: bool = False,
) -> Nest:  # fmt: skip
    """A placeholder of a shape, or of a rank."""
    sizes = [None] * ndim if shape is None and ndim else shape
    return (sparse_placeholder if sparse else graph_placeholder)(dtypes.as_dtype(dtype or floatx()), sizes, name=name)


class Function:
    """A run of a graph as a function of arrays.

    Args:
        inputs: what is fed; None for what is not.
        outputs: what is returned.
        updates: operations to run as well, or pairs of a variable and its new value.
    """

    def __init__(self, inputs: Nest, outputs: Nest, updates: Nest = None) -> None:
        self.inputs = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
        self.outputs = outputs
        made = [each[0].assign(each[1]).op if isinstance(each, tuple) else each for each in updates or ()]
        self._updates = group(*made) if made else None

    def __call__(self, inputs: Nest) -> Nest:
        """The outputs for these arrays."""
        given = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
        feeds = {key: value for key, value in zip(self.inputs, given, strict=False) if key is not None and value is not None}
        session: SessionLike = get_session()
        fetches = [self.outputs, self._updates if self._updates is not None else []]
        return session.run(fetches, feed_dict=feeds)[0]


def function(inputs: Nest, outputs: Nest, updates: Nest = None, name: str | None = None, **kwargs: object) -> Function:
    """A function of arrays that runs the graph."""
    if kwargs:
        raise ValueError(f"Session keyword arguments are not supported by `K.function`: {sorted(kwargs)}")
    return Function(inputs, outputs, updates)


def get_value(x: VariableLike) -> Array:
    """The value of a variable or tensor."""
    return batch_get_value([x])[0]


def set_value(x: VariableLike, value: Array) -> None:
    """Give a variable a value."""
    batch_set_value([(x, value)])


def eval(x: Nest) -> Array:
    """The value of a tensor or variable."""
    return get_session().run(to_dense(x))


def int_shape(x: Nest) -> tuple[int | None, ...] | None:
    """The shape as a tuple; None when the rank is unknown."""
    shape = x.shape if hasattr(x, "shape") else convert_to_tensor(x).shape
    if isinstance(shape, tuple):
        return shape
    return None if shape.ndims is None else tuple(shape.as_list())


def ndim(x: Nest) -> int | None:
    """The rank."""
    dims = int_shape(x)
    return None if dims is None else len(dims)


def dtype(x: Nest) -> str:
    """The name of the type."""
    name: str = x.dtype.base_dtype.name
    return name


def is_sparse(tensor: Nest) -> bool:
    """Whether a tensor is sparse."""
    return isinstance(tensor, SparseTensor)


def to_dense(tensor: Nest) -> Nest:
    """A sparse tensor as a dense one, a dense one as it is."""
    if not isinstance(tensor, SparseTensor):
        return tensor
    return sparse_tensor_to_dense(tensor)


def is_keras_tensor(x: Nest) -> bool:
    """Whether a tensor came from a layer; ValueError for what is none."""
    if not is_tensor(x):
        raise ValueError(f"Unexpectedly found an instance of type `{type(x)}`. Expected a symbolic tensor instance.")
    return history_of(x) is not None


def cast(x: TensorLike, dtype: DTypeLike) -> Tensor:
    """A tensor in another type."""
    return cast_to(x, dtype)


def zeros(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> VariableLike:
    """A variable of zeros."""
    return variable(filling.zeros(shape, dtypes.as_dtype(dtype or floatx())), dtype, name)


def ones(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> VariableLike:
    """A variable of ones."""
    return variable(filling.ones(shape, dtypes.as_dtype(dtype or floatx())), dtype, name)


def eye(size: int, dtype: DTypeLike | None = None, name: str | None = None) -> VariableLike:
    """A variable with the identity matrix."""
    return variable(np.eye(size), dtype, name)


def random_uniform_variable(
    shape: Sequence[int],
    low: float,
    high: float,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> VariableLike:
    """A variable of uniform numbers."""
    return variable(random.random_uniform(shape, low, high, dtypes.as_dtype(dtype or floatx()), seed=seed), dtype, name)


def random_normal_variable(
    shape: Sequence[int],
    mean: float,
    scale: float,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> VariableLike:
    """A variable of normal numbers."""
    return variable(random.random_normal(shape, mean, scale, dtypes.as_dtype(dtype or floatx()), seed=seed), dtype, name)


def count_params(x: VariableLike) -> int:
    """The number of elements of a variable."""
    return int(x.shape.num_elements() or 0)


def update(x: VariableLike, new_x: TensorLike) -> VariableLike:
    """The operation that gives a variable a value."""
    return x.assign(new_x)


def update_add(x: VariableLike, increment: TensorLike) -> VariableLike:
    """The operation that adds to a variable."""
    return x.assign_add(increment)


def update_sub(x: VariableLike, decrement: TensorLike) -> VariableLike:
    """The operation that takes from a variable."""
    return x.assign_sub(decrement)


def moving_average_update(x: VariableLike, value: TensorLike, momentum: float) -> VariableLike:
    """The operation that moves a variable towards a value."""
    return assign_moving_average(x, value, momentum, zero_debias=False)


def dot(x: TensorLike, y: TensorLike) -> Tensor:
    """The product over the last axis of `x` and the last but one of `y`."""
    a, b = convert_to_tensor(x), convert_to_tensor(y)
    if (a.shape.ndims or 0) <= 2 and (b.shape.ndims or 0) <= 2:
        return matmul(a, b)
    rank = b.shape.ndims or 0
    front = [rank - 2, *(axis for axis in range(rank) if axis != rank - 2)]
    inner = b.shape.as_list()[-2]
    flat = matmul(reshaped(a, [-1, inner]), reshaped(transposed(b, front), [inner, -1]))
    rest = [size for axis, size in enumerate(b.shape.as_list()) if axis != rank - 2]
    sizes = [size if size is not None else shape_of(a)[axis] for axis, size in enumerate(a.shape.as_list()[:-1])]
    return reshaped(flat, [*sizes, *rest])


def batch_dot(x: TensorLike, y: TensorLike, axes: int | Sequence[int] | None = None) -> Tensor:
    """The product over an axis of each tensor, for each example; the last of `x` and the last but one of `y` when None."""
    a, b = convert_to_tensor(x), convert_to_tensor(y)
    ranks = int(a.shape.ndims or 0), int(b.shape.ndims or 0)
    if axes is None:
        axes = (ranks[0] - 1, max(ranks[1] - 2, 1))
    given = (axes, axes) if isinstance(axes, int) else (axes[0], axes[1])
    return dot_over_axes(a, b, (given[0] % ranks[0], given[1] % ranks[1]))


def permute_dimensions(x: TensorLike, pattern: Sequence[int]) -> Tensor:
    """The dimensions in another order."""
    return transposed(x, pattern)


def flatten(x: TensorLike) -> Tensor:
    """A vector of all elements."""
    return reshaped(x, [-1])


def batch_flatten(x: TensorLike) -> Tensor:
    """A matrix with a row for each example."""
    tensor = convert_to_tensor(x)
    rest = [size for size in tensor.shape.as_list()[1:] if size is not None]
    is_known = len(rest) == (tensor.shape.ndims or 0) - 1
    return reshaped(tensor, [-1, int(np.prod(rest)) if is_known else reductions.reduce_prod(shape_of(tensor)[1:])])


def expand_dims(x: TensorLike, axis: int = -1) -> Tensor:
    """A dimension of size 1 more."""
    return with_axis(x, axis)


def concatenate(tensors: Sequence[TensorLike], axis: int = -1) -> Tensor:
    """Tensors one after the other."""
    return concat([convert_to_tensor(each) for each in tensors], axis)


def one_hot(indices: TensorLike, num_classes: int) -> Tensor:
    """A one at each index."""
    return filling.one_hot(indices, num_classes)


def clip(x: TensorLike, min_value: float, max_value: float | None) -> Tensor:
    """Elements between two bounds."""
    if max_value is None:
        return maximum(x, min_value)
    return clip_by_value(convert_to_tensor(x), min_value, max(min_value, max_value))


def _as_floats(x: TensorLike) -> Tensor:
    tensor = convert_to_tensor(x)
    return cast_to(tensor, floatx()) if tensor.dtype.base_dtype == dtypes.bool else tensor


def mean(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The mean; of booleans the part that is true."""
    return reductions.reduce_mean(_as_floats(x), axis=axis, keepdims=keepdims)


def var(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The variance."""
    return reductions.reduce_variance(_as_floats(x), axis=axis, keepdims=keepdims)


def std(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The standard deviation."""
    return root(var(x, axis, keepdims))


def sum(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The sum."""
    return reductions.reduce_sum(x, axis=axis, keepdims=keepdims)


def prod(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The product."""
    return reductions.reduce_prod(x, axis=axis, keepdims=keepdims)


def max_of(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The greatest element."""
    return reductions.reduce_max(x, axis=axis, keepdims=keepdims)


def min_of(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """The least element."""
    return reductions.reduce_min(x, axis=axis, keepdims=keepdims)


def any_of(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """Whether an element is true."""
    return reductions.reduce_any(cast_to(x, dtypes.bool), axis=axis, keepdims=keepdims)


def all_of(x: TensorLike, axis: AxisLike = None, keepdims: bool = False) -> Tensor:
    """Whether all elements are true."""
    return reductions.reduce_all(cast_to(x, dtypes.bool), axis=axis, keepdims=keepdims)


def argmax(x: TensorLike, axis: int = -1) -> Tensor:
    """The place of the greatest element."""
    return reductions.argmax(x, axis)


def argmin(x: TensorLike, axis: int = -1) -> Tensor:
    """The place of the least element."""
    return reductions.argmin(x, axis)


def sqrt(x: TensorLike) -> Tensor:
    """The square root; 0 for what is less."""
    return root(maximum(convert_to_tensor(x), 0.0))


def l2_normalize(x: TensorLike, axis: int | None = None) -> Tensor:
    """Vectors of length 1."""
    return nn_l2_normalize(x, axis)


def batch_normalization(
    x: Tensor, mean: TensorLike, var: TensorLike, beta: TensorLike, gamma: TensorLike, axis: int = -1, epsilon: float = 1e-3
) -> Tensor:
    """A tensor normalized by a mean and a variance, with an offset and a scale."""
    made: Tensor = (x - mean) / root(convert_to_tensor(var) + epsilon) * gamma + beta
    return made


def gradients(loss: Tensor, variables: Nest) -> list[Nest]:
    """The gradients of a loss."""
    return list(gradients_of(loss, variables))


def dropout(x: TensorLike, level: float, noise_shape: ShapeLike = None, seed: int | None = None) -> Tensor:
    """A tensor with elements dropped at random."""
    return nn_dropout(x, noise_shape=noise_shape, seed=seed, rate=level)


def switch(condition: TensorLike, then_expression: Nest, else_expression: Nest) -> Nest:
    """One of two tensors, or of what two functions make."""
    return cond(cast_to(condition, dtypes.bool), _as_function(then_expression), _as_function(else_expression))


def _as_function(value: Nest) -> Callable[[], Nest]:
    return value if callable(value) else lambda: convert_to_tensor(value)


def random_normal(
    shape: ShapeLike, mean: float = 0.0, stddev: float = 1.0, dtype: DTypeLike | None = None, seed: int | None = None
) -> Tensor:
    """Normal numbers."""
    return random.random_normal(shape, mean, stddev, dtypes.as_dtype(dtype or floatx()), seed=seed)


def random_uniform(
    shape: ShapeLike, minval: float = 0.0, maxval: float = 1.0, dtype: DTypeLike | None = None, seed: int | None = None
) -> Tensor:
    """Uniform numbers."""
    return random.random_uniform(shape, minval, maxval, dtypes.as_dtype(dtype or floatx()), seed=seed)


def truncated_normal(
    shape: ShapeLike, mean: float = 0.0, stddev: float = 1.0, dtype: DTypeLike | None = None, seed: int | None = None
) -> Tensor:
    """Normal numbers, cut at two standard deviations."""
    return random.truncated_normal(shape, mean, stddev, dtypes.as_dtype(dtype or floatx()), seed=seed)
