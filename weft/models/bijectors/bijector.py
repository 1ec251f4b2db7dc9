"""Bijector: the base of invertible differentiable functions; a subclass says how they map, and how they stretch space."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from weft.framework.building.aliases import DTypeLike, DynamicShape, Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor, is_tensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dtypes import DType, as_dtype, int32
from weft.framework.types.printed import printed
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.filling import ones
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import rank
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.input_scope import input_scope
from weft.ops.math.reduce_functions import reduce_sum

_FORWARD: Final = "forward"
_INVERSE: Final = "inverse"


class Bijector:
    """An invertible differentiable function `y = g(x)`, elementwise or of the last dimensions of `x`.

    A subclass has those of `_forward`, `_inverse`, `_forward_log_det_jacobian`, `_inverse_log_det_jacobian`, and the four
    functions of event shapes, that it can compute; of the two logarithms one is enough. What `forward` gave for a tensor is
    remembered: `inverse` of its result is that tensor itself.

    Args:
        graph_parents: the tensors that it is made of.
        is_constant_jacobian: whether it stretches space alike everywhere.
        validate_args: whether arguments are checked.
        dtype: the type of its arguments; any when None.
        forward_min_event_ndims: how many of the last dimensions `forward` maps together; as for `inverse` when None.
        inverse_min_event_ndims: the same for `inverse`; as for `forward` when None.
        name: of its name scopes; the class's in snake case by default.

    Raises:
        ValueError: both numbers of dimensions are None, or one is negative; or a graph parent is no tensor.
        TypeError: a number of dimensions is no int.
    """

    def __init__(
        self,
        graph_parents: Sequence[Tensor] | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        dtype: DTypeLike | None = None,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str | None = None,
    ) -> None:
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise ValueError("Must specify at least one of `forward_min_event_ndims` and `inverse_min_event_ndims`.")
        for index, parent in enumerate(graph_parents or ()):
            if parent is None or not is_tensor(parent):
                raise ValueError(f"Graph parent item {index} is not a Tensor; {parent}.")
        forward = inverse_min_event_ndims if forward_min_event_ndims is None else forward_min_event_ndims
        inverse = forward_min_event_ndims if inverse_min_event_ndims is None else inverse_min_event_ndims
        self._forward_min_event_ndims = _dimensions(forward, "forward_min_event_ndims")
        self._inverse_min_event_ndims = _dimensions(inverse, "inverse_min_event_ndims")
        self._graph_parents = list(graph_parents or [])
        self._is_constant_jacobian = is_constant_jacobian
        self._validate_args = validate_args
        self._dtype = None if dtype is None else as_dtype(dtype)
        self._name = name or _snake_case(type(self).__name__.lstrip("_"))
        # What each tensor is mapped to, by the direction and the conditions; and the logarithms that depend on no tensor.
        self._mapped: dict[Nest, Nest] = {}
        self._stretches: dict[Nest, Nest] = {}

    __repr__ = printed("tf.contrib.distributions.bijectors")

    @property
    def name(self) -> str:
        """The name of its scopes."""
        return self._name

    @property
    def dtype(self) -> DType | None:
        """The type of its arguments; None for any."""
        return self._dtype

    @property
    def graph_parents(self) -> list[Tensor]:
        """The tensors that it is made of."""
        return self._graph_parents

    @property
    def validate_args(self) -> bool:
        """Whether arguments are checked."""
        return self._validate_args

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether it stretches space alike everywhere."""
        return self._is_constant_jacobian

    @property
    def forward_min_event_ndims(self) -> int:
        """How many of the last dimensions `forward` maps together."""
        return self._forward_min_event_ndims

    @property
    def inverse_min_event_ndims(self) -> int:
        """How many of the last dimensions `inverse` maps together."""
        return self._inverse_min_event_ndims

    @property
    def _is_injective(self) -> bool:
        """Whether no two arguments have one value; `inverse` gives a tuple of all of them otherwise."""
        return True

    # What is public.

    def forward(self, x: TensorLike, name: str = "forward") -> Tensor:
        """The value `g(x)`.

        Args:
            x: a tensor of values.
        """
        found: Tensor = self._map(_FORWARD, x, name, {})
        return found

    def inverse(self, y: TensorLike, name: str = "inverse") -> Nest:
        """The argument whose value is `y`; a tuple of them where there are several.

        Args:
            y: a tensor of values.
        """
        return self._map(_INVERSE, y, name, {})

    def forward_log_det_jacobian(
        self, x: TensorLike, event_ndims: TensorLike, name: str = "forward_log_det_jacobian"
    ) -> Tensor:
        """The logarithm of how `g` stretches space at `x`.

        Args:
            x: `[..., event]`.
            event_ndims: the number of dimensions of the event, over which the logarithms are summed.
            name: the scope's name.

        Returns:
            `[...]`.

        Raises:
            ValueError: `event_ndims` is less than the dimensions that are mapped together.
            NotImplementedError: several arguments have one value, or no logarithm is known.
        """
        found: Tensor = self._log_det(_FORWARD, x, event_ndims, name, {})
        return found

    def inverse_log_det_jacobian(self, y: TensorLike, event_ndims: TensorLike, name: str = "inverse_log_det_jacobian") -> Nest:
        """The logarithm of how the inverse of `g` stretches space at `y`; see `forward_log_det_jacobian`.

        Args:
            y: a tensor of values.
            event_ndims: how many of its last dimensions are one value.
        """
        return self._log_det(_INVERSE, y, event_ndims, name, {})

    def forward_event_shape(self, input_shape: DynamicShape) -> TensorShape:
        """The shape of an event that `forward` gives for one of `input_shape`, as far as it is known.

        Args:
            input_shape: the static shape of an event that goes in.
        """
        return TensorShape(self._forward_event_shape(TensorShape(input_shape)))

    def inverse_event_shape(self, output_shape: DynamicShape) -> TensorShape:
        """The shape of an event that `inverse` gives for one of `output_shape`, as far as it is known.

        Args:
            output_shape: the static shape of an event that comes out.
        """
        return TensorShape(self._inverse_event_shape(TensorShape(output_shape)))

    def forward_event_shape_tensor(self, input_shape: TensorLike, name: str = "forward_event_shape_tensor") -> Tensor:
        """The shape of an event that `forward` gives: `[rank] int32 -> [rank] int32`.

        Args:
            input_shape: `[rank]` int32, the shape of an event that goes in.
        """
        with self._scope(name, input_shape):
            return self._forward_event_shape_tensor(convert_to_tensor(input_shape, int32, name="input_shape"))

    def inverse_event_shape_tensor(self, output_shape: TensorLike, name: str = "inverse_event_shape_tensor") -> Tensor:
        """The shape of an event that `inverse` gives: `[rank] int32 -> [rank] int32`.

        Args:
            output_shape: `[rank]` int32, the shape of an event that comes out.
        """
        with self._scope(name, output_shape):
            return self._inverse_event_shape_tensor(convert_to_tensor(output_shape, int32, name="output_shape"))

    # The parts that a subclass may have.

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        raise NotImplementedError("forward not implemented.")

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Nest:
        raise NotImplementedError("inverse not implemented")

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        raise NotImplementedError("forward_log_det_jacobian not implemented.")

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Nest:
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return input_shape

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return output_shape

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        return output_shape

    # How a tensor is mapped.

    @contextlib.contextmanager
    def _scope(self, name: str, value: object) -> Iterator[None]:
        parents = self.graph_parents
        with input_scope(self.name, self.name, [*parents, value]), input_scope(name, name, [value]):
            yield

    def _argument(self, value: TensorLike, name: str) -> Tensor:
        tensor = convert_to_tensor(value, name=name)
        if self.dtype is not None and self.dtype.base_dtype != tensor.dtype.base_dtype:
            raise TypeError(f"Input had dtype {self.dtype} but expected {tensor.dtype}.")
        return tensor

    def _map(self, direction: str, value: TensorLike, name: str, conditions: Mapping[str, Nest]) -> Nest:
        """What `forward` or `inverse` gives; remembered, with the way back, unless there are several."""
        with self._scope(name, value):
            tensor = self._argument(value, "x" if direction == _FORWARD else "y")
            return self._remembered(direction, tensor, conditions)

    def _remembered(self, direction: str, tensor: Tensor, conditions: Mapping[str, Nest]) -> Nest:
        own, back = (self._forward, _INVERSE) if direction == _FORWARD else (self._inverse, _FORWARD)
        if not self._is_injective:
            return own(tensor, **conditions)
        key = _key(conditions)
        if (direction, tensor, key) not in self._mapped:
            result = own(tensor, **conditions)
            self._mapped[direction, tensor, key] = result
            self._mapped[back, result, key] = tensor
        return self._mapped[direction, tensor, key]

    def _log_det(
        self, direction: str, value: TensorLike, event_ndims: TensorLike, name: str, conditions: Mapping[str, Nest]
    ) -> Nest:
        """The logarithm of how the function of that direction stretches space, summed over the event."""
        if direction == _FORWARD and not self._is_injective:
            raise NotImplementedError("forward_log_det_jacobian cannot be implemented for non-injective transforms.")
        is_forward = direction == _FORWARD
        least = self.forward_min_event_ndims if is_forward else self.inverse_min_event_ndims
        with self._scope(name, value):
            count = _event_ndims(event_ndims, least)
            key = count if self.is_constant_jacobian else (direction, value, count, _key(conditions))
            is_known = not is_tensor(count) and (self.is_constant_jacobian or is_tensor(value))
            if is_known and key in self._stretches:
                inverse = self._stretches[key]
            else:
                tensor = self._argument(value, "x" if is_forward else "y")
                inverse = self._inverse_log_det(direction, tensor, count, conditions)
                if is_known and self._is_injective:
                    self._stretches[key] = inverse
            return -inverse if is_forward else inverse

    def _inverse_log_det(self, direction: str, tensor: Tensor, count: Nest, conditions: Mapping[str, Nest]) -> Nest:
        forms: dict[str, tuple[Nest, float, int]] = {
            _FORWARD: (self._forward_log_det_jacobian, -1.0, self.forward_min_event_ndims),
            _INVERSE: (self._inverse_log_det_jacobian, 1.0, self.inverse_min_event_ndims),
        }
        other = _INVERSE if direction == _FORWARD else _FORWARD

        def summed(which: str, at: Tensor) -> Nest:
            rule, sign, least = forms[which]
            found = rule(at, **conditions)
            if isinstance(found, tuple):
                return tuple(_over_event(at, sign * each, least, count) for each in found)
            return _over_event(at, found if sign > 0 else -found, least, count)

        try:
            return summed(direction, tensor)
        except NotImplementedError as missing:
            try:
                return summed(other, self._remembered(direction, tensor, conditions))
            except NotImplementedError:
                raise missing from None


class ConditionalBijector(Bijector):
    """A bijector whose functions take further arguments, by keyword: a subclass's `_forward` and the others are given them."""

    def forward(self, x: TensorLike, name: str = "forward", **condition_kwargs: Nest) -> Tensor:
        """The value `g(x)` under these conditions.

        Args:
            condition_kwargs: the conditions, which the bijector's own functions take by name.
        """
        found: Tensor = self._map(_FORWARD, x, name, condition_kwargs)
        return found

    def inverse(self, y: TensorLike, name: str = "inverse", **condition_kwargs: Nest) -> Nest:
        """The argument whose value is `y` under these conditions.

        Args:
            condition_kwargs: the conditions, which the bijector's own functions take by name.
        """
        return self._map(_INVERSE, y, name, condition_kwargs)

    def forward_log_det_jacobian(
        self, x: TensorLike, event_ndims: TensorLike, name: str = "forward_log_det_jacobian", **condition_kwargs: Nest
    ) -> Tensor:
        """See `Bijector.forward_log_det_jacobian`.

        Args:
            condition_kwargs: the conditions, which the bijector's own functions take by name.
        """
        found: Tensor = self._log_det(_FORWARD, x, event_ndims, name, condition_kwargs)
        return found

    def inverse_log_det_jacobian(
        self, y: TensorLike, event_ndims: TensorLike, name: str = "inverse_log_det_jacobian", **condition_kwargs: Nest
    ) -> Nest:
        """See `Bijector.inverse_log_det_jacobian`.

        Args:
            condition_kwargs: the conditions, which the bijector's own functions take by name.
        """
        return self._log_det(_INVERSE, y, event_ndims, name, condition_kwargs)


def _dimensions(count: object, name: str) -> int:
    if not isinstance(count, int):
        raise TypeError(f"Expected {name} to be of type int, got {type(count).__name__}")
    if count < 0:
        raise ValueError(f"{name} must be a non-negative integer. It is {count}.")
    return count


def _snake_case(name: str) -> str:
    return re.sub("([a-z0-9])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)).lower()


def _key(conditions: Mapping[str, Nest]) -> Nest:
    return tuple((name, repr(value) if isinstance(value, dict | list) else value) for name, value in sorted(conditions.items()))


def _event_ndims(event_ndims: TensorLike, least: int) -> Nest:
    """The number as an int where it is known."""
    tensor = convert_to_tensor(event_ndims, name="event_ndims")
    if not tensor.dtype.is_integer:
        raise ValueError(f"Expected integer dtype, got dtype {tensor.dtype}")
    if tensor.shape.ndims not in (None, 0):
        raise ValueError(f"Expected scalar event_ndims, got shape {tensor.shape}")
    known = constant_value(tensor)
    if known is None:
        return tensor
    if int(known) < least:
        raise ValueError(f"event_ndims ({int(known)}) must be larger than min_event_ndims ({least})")
    return int(known)


def _over_event(tensor: Tensor, logarithm: Tensor, least: int, count: Nest) -> Tensor:
    """The sum over the dimensions of the event that were not mapped together, in each of which the logarithm is the same."""
    dimensions = rank(tensor) if tensor.shape.ndims is None else tensor.shape.ndims
    sizes = shape_of(tensor)[dimensions - count : dimensions - least]
    every = ones(sizes, logarithm.dtype) * logarithm
    if isinstance(count, int):
        if count == least:
            return logarithm
        return reduce_sum(every, axis=list(range(least - count, 0)))
    return reduce_sum(every, axis=range_of(least - count, 0))
