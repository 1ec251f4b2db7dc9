"""Bijectors of vectors and shapes: Permute, Ordered, SoftmaxCentered and Reshape."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dtypes import int32
from weft.framework.types.tensor_shape import TensorShape
from weft.models.bijectors.bijector import Bijector
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones, zeros_like
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.transposing import invert_permutation
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_positive
from weft.ops.input_scope import input_scope
from weft.ops.math.reduce_functions import reduce_logsumexp, reduce_sum
from weft.ops.math.scans import cumsum
from weft.ops.math.unary import exp, log
from weft.ops.nn.activation import softplus
from weft.ops.nn.softmax import softmax


class Permute(Bijector):
    """Exchanges the elements of vectors: `y[..., i] = x[..., permutation[i]]`.

    Args:
        permutation: `[size]`, each of `0 ... size - 1` once.
        validate_args: kept; a constant permutation is checked anyway.
        name: of its scopes.

    Raises:
        TypeError: it is not of integers.
        ValueError: a constant one lacks a number.
    """

    def __init__(self, permutation: TensorLike, validate_args: bool = False, name: str | None = None) -> None:
        with input_scope(name, "permute", [permutation]):
            given = convert_to_tensor(permutation, name="permutation")
            if not given.dtype.is_integer:
                raise TypeError(f"permutation.dtype ({given.dtype.name}) should be `int`-like.")
            known = constant_value(given)
            if known is not None and sorted(known) != list(range(known.size)):
                message = "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
                raise ValueError(f"{message} It is {known.tolist()}.")
            self._permutation = given
        super().__init__(
            is_constant_jacobian=True, validate_args=validate_args, forward_min_event_ndims=1, name=name or "permute"
        )

    @property
    def permutation(self) -> Tensor:
        """Where each element comes from: `[size]`."""
        return self._permutation

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return gather(x, self._permutation, axis=-1)

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return gather(y, invert_permutation(self._permutation), axis=-1)

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return constant(0.0, dtype=y.dtype.base_dtype)


class Ordered(Bijector):
    """Maps increasing vectors to any: the first element, and the logarithms of the steps between the others.

    Args:
        validate_args: whether runs check what is given.
    """

    def __init__(self, validate_args: bool = False, name: str = "ordered") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=1, name=name)

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return concat([x[..., :1], log(self._steps(x))], -1)

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return cumsum(concat([y[..., :1], exp(y[..., 1:])], -1), axis=-1)

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return reduce_sum(y[..., 1:], -1)

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return -reduce_sum(log(self._steps(x)), -1)

    def _steps(self, x: Tensor) -> Tensor:
        steps = x[..., 1:] - x[..., :-1]
        if not self.validate_args:
            return steps
        message = "Forward transformation input must be strictly increasing."
        return with_dependencies([assert_positive(steps, message=message)], steps)


class SoftmaxCentered(Bijector):
    """The softmax of a vector with a 0 appended: `[..., size] -> [..., size + 1]`, positive and of sum 1.

    Args:
        validate_args: whether runs check what is given.
    """

    def __init__(self, validate_args: bool = False, name: str = "softmax_centered") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=1, name=name)

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return softmax(concat([x, zeros_like(x[..., :1])], -1))

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        logarithms = log(y)
        return logarithms[..., :-1] - logarithms[..., -1:]

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return -reduce_sum(log(y), -1)

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        normalizer = softplus(reduce_logsumexp(x, axis=-1, keepdims=True))
        return reduce_sum(x - normalizer, -1) - normalizer[..., 0]

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return _last_size(input_shape, 1)

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        if output_shape.ndims is not None:
            last = output_shape.as_list()[-1]
            if last is not None and last <= 1:
                raise ValueError(f"output_shape[-1] = {last} <= 1")
        return _last_size(output_shape, -1)

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        return input_shape[-1:] + 1

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        return output_shape[-1:] - 1


def _last_size(sizes: TensorShape, more: int) -> TensorShape:
    last = None if sizes.ndims is None else sizes.as_list()[-1]
    return sizes if last is None else TensorShape([last + more])


class Reshape(Bijector):
    """Gives events another shape.

    Args:
        event_shape_out: the shape of an event of the value; one size may be -1.
        event_shape_in: that of the argument; a vector by default.
        validate_args: kept; what is known of the shapes is checked anyway.
        name: of its scopes.

    Raises:
        TypeError: a shape is not of integers.
        ValueError: a shape is no vector, or has several -1, or smaller sizes.
    """

    def __init__(
        self,
        event_shape_out: TensorLike,
        event_shape_in: TensorLike = (-1,),
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        with input_scope(name, "reshape", [event_shape_out, event_shape_in]):
            self._out = _checked_sizes(convert_to_tensor(event_shape_out, name="event_shape_out", preferred_dtype=int32))
            self._in = _checked_sizes(convert_to_tensor(event_shape_in, name="event_shape_in", preferred_dtype=int32))
        super().__init__(
            is_constant_jacobian=True, validate_args=validate_args, forward_min_event_ndims=0, name=name or "reshape"
        )

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return _reshaped(x, self._in, self._out)

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return _reshaped(y, self._out, self._in)

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        return constant(0.0, dtype=x.dtype)

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return _static_sizes(input_shape, self._out)

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return _static_sizes(output_shape, self._in)

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        return _dynamic_sizes(input_shape, self._out)

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        return _dynamic_sizes(output_shape, self._in)


def _checked_sizes(sizes: Tensor) -> Tensor:
    if not sizes.dtype.is_integer:
        raise TypeError(f"{sizes} dtype ({sizes.dtype.name}) should be `int`-like.")
    if sizes.shape.ndims is not None and sizes.shape.ndims > 1:
        raise ValueError(f"`{sizes}` rank ({sizes.shape.ndims}) should be <= 1.")
    known = constant_value(sizes)
    if known is not None and np.sum(known == -1) > 1:
        raise ValueError(f"`{sizes}` must have at most one `-1` (given {known})")
    if known is not None and np.any(known < -1):
        raise ValueError(f"`{sizes}` elements must be either positive integers or `-1`(given {known}).")
    return sizes


def _reshaped(x: Tensor, sizes_in: Tensor, sizes_out: Tensor) -> Tensor:
    events: Nest = shape_of(sizes_in)[0] if sizes_in.shape.as_list()[0] is None else sizes_in.shape.as_list()[0]
    wanted = constant_value(sizes_in)
    if wanted is not None and x.shape.ndims is not None:
        found = x.shape.with_rank_at_least(len(wanted)).as_list()[-len(wanted) :]
        if any(a not in (b, -1) and b is not None for a, b in zip(wanted.tolist(), found, strict=True)):
            raise ValueError(f"Input `event_shape` does not match `event_shape_in` ({found} vs {wanted}).")
    sizes = shape_of(x)
    rank = shape_of(sizes)[0] if x.shape.ndims is None else x.shape.ndims
    before: Nest = rank - events
    return reshape(x, concat([sizes[:before], sizes_out], 0))


def _static_sizes(found: TensorShape, wanted: Tensor) -> TensorShape:
    known = constant_value(wanted)
    if known is None:
        return TensorShape(None)
    sizes = [None if each == -1 else int(each) for each in known.tolist()]
    total = found.num_elements()
    if total is not None and sizes.count(None) == 1:
        rest = int(np.prod([each for each in sizes if each is not None], dtype=np.int64))
        sizes = [total // rest if each is None else each for each in sizes]
    return TensorShape(sizes)


def _dynamic_sizes(found: Tensor, wanted: Tensor) -> Tensor:
    return shape_of(reshape(ones(found), wanted))
