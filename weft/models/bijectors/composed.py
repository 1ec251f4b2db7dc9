"""Bijectors made of others or of functions: Chain, Invert and Inline."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.bijectors.bijector import Bijector
from weft.ops.array.constant import constant
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.shape_ops import size


class Chain(Bijector):
    """One bijector after the other: `Chain([f, g]).forward(x)` is `f(g(x))`.

    Args:
        bijectors: the bijectors, the last one first; the identity when there are none.
        validate_args: kept; each checks its own arguments.
        name: of its scopes; it tells the names of the bijectors by default.

    Its functions take for a conditional bijector a dictionary of its conditions, by the bijector's name.

    Raises:
        ValueError: the bijectors take different types.
        NotImplementedError: one of them has several arguments with one value.
    """

    def __init__(
        self, bijectors: Sequence[Bijector] | None = None, validate_args: bool = False, name: str | None = None
    ) -> None:
        members = tuple(bijectors or ())
        if any(not each._is_injective for each in members):
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        types = list(dict.fromkeys(each.dtype for each in members if each.dtype is not None))
        if len(types) > 1:
            raise ValueError(f"incompatible dtypes: {types}")
        self._bijectors = members
        super().__init__(
            graph_parents=[parent for each in members for parent in each.graph_parents],
            is_constant_jacobian=all(each.is_constant_jacobian for each in members),
            validate_args=validate_args,
            dtype=types[0] if types else None,
            forward_min_event_ndims=_min_event_ndims([_ndims(each) for each in reversed(members)]),
            inverse_min_event_ndims=_min_event_ndims([_ndims(each)[::-1] for each in members]),
            name=name or ("identity" if not members else "_of_".join(["chain", *(each.name for each in members)])),
        )

    @property
    def bijectors(self) -> tuple[Bijector, ...]:
        """The bijectors, the last one first."""
        return self._bijectors

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        for each in reversed(self._bijectors):
            x = each.forward(x, **kwargs.get(each.name, {}))
        return x

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        for each in self._bijectors:
            y = each.inverse(y, **kwargs.get(each.name, {}))
        return y

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Tensor:
        total = constant(0.0, dtype=y.dtype, name="inverse_log_det_jacobian")
        count: Nest = self.inverse_min_event_ndims
        for each in self._bijectors:
            conditions = kwargs.get(each.name, {})
            total += each.inverse_log_det_jacobian(y, event_ndims=count, **conditions)
            count = _event_ndims_after(y, count, each.inverse_event_shape, each.inverse_event_shape_tensor)
            y = each.inverse(y, **conditions)
        return total

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        total = constant(0.0, dtype=x.dtype, name="forward_log_det_jacobian")
        count: Nest = self.forward_min_event_ndims
        for each in reversed(self._bijectors):
            conditions = kwargs.get(each.name, {})
            total += each.forward_log_det_jacobian(x, event_ndims=count, **conditions)
            count = _event_ndims_after(x, count, each.forward_event_shape, each.forward_event_shape_tensor)
            x = each.forward(x, **conditions)
        return total

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        for each in reversed(self._bijectors):
            input_shape = each.forward_event_shape(input_shape)
        return input_shape

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        for each in self._bijectors:
            output_shape = each.inverse_event_shape(output_shape)
        return output_shape

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        for each in reversed(self._bijectors):
            input_shape = each.forward_event_shape_tensor(input_shape)
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        for each in self._bijectors:
            output_shape = each.inverse_event_shape_tensor(output_shape)
        return output_shape


def _ndims(bijector: Bijector) -> tuple[int, int]:
    return bijector.forward_min_event_ndims, bijector.inverse_min_event_ndims


def _min_event_ndims(steps: Sequence[tuple[int, int]]) -> int:
    """How many dimensions a chain maps together, by those that each step takes and gives, in the order in which they come."""
    least = at_hand = 0
    for takes, gives in steps:
        least += max(0, takes - at_hand)
        at_hand = max(takes, at_hand) + gives - takes
    return least


def _event_ndims_after(
    x: Tensor, count: Nest, static: Callable[[TensorShape], TensorShape], dynamic: Callable[[Tensor], Tensor]
) -> Nest:
    """The number of dimensions of an event when a step has mapped it."""
    rank = x.shape.ndims
    if isinstance(count, int) and rank is not None:
        found = static(x.shape[rank - count :]).ndims
        if found is not None:
            return found
    sizes = shape_of(x)
    return size(dynamic(sizes[size(sizes) - count :]))


class Invert(Bijector):
    """The inverse of a bijector.

    Args:
        bijector: the bijector.
        validate_args: kept; the bijector checks its arguments.
        name: of its scopes; `invert_` and the bijector's name by default.

    Raises:
        NotImplementedError: the bijector has several arguments with one value.
    """

    def __init__(self, bijector: Bijector, validate_args: bool = False, name: str | None = None) -> None:
        if not bijector._is_injective:
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            is_constant_jacobian=bijector.is_constant_jacobian,
            validate_args=validate_args,
            dtype=bijector.dtype,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            name=name or f"invert_{bijector.name}",
        )

    @property
    def bijector(self) -> Bijector:
        """The bijector that is inverted."""
        return self._bijector

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        inverted: Tensor = self._bijector._inverse(x, **kwargs)
        return inverted

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return self._bijector._forward(y, **kwargs)

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Tensor:
        return self._bijector._forward_log_det_jacobian(y, **kwargs)

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        stretched: Tensor = self._bijector._inverse_log_det_jacobian(x, **kwargs)
        return stretched

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return self._bijector._inverse_event_shape(input_shape)

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return self._bijector._forward_event_shape(output_shape)

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        return self._bijector._inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        return self._bijector._forward_event_shape_tensor(output_shape)


_Function = Callable[..., Nest]


class Inline(Bijector):
    """A bijector made of functions.

    Args:
        forward_fn, inverse_fn: the function and its inverse, of a tensor.
        inverse_log_det_jacobian_fn, forward_log_det_jacobian_fn: the logarithms of how they stretch space.
        forward_event_shape_fn, inverse_event_shape_fn: shapes of events, of a TensorShape; that of the argument when None.
        forward_event_shape_tensor_fn, inverse_event_shape_tensor_fn: the same of a shape tensor.
        is_constant_jacobian, validate_args, forward_min_event_ndims, inverse_min_event_ndims, name: see Bijector.
    """

    def __init__(
        self,
        forward_fn: _Function | None = None,
        inverse_fn: _Function | None = None,
        inverse_log_det_jacobian_fn: _Function | None = None,
        forward_log_det_jacobian_fn: _Function | None = None,
        forward_event_shape_fn: _Function | None = None,
        forward_event_shape_tensor_fn: _Function | None = None,
        inverse_event_shape_fn: _Function | None = None,
        inverse_event_shape_tensor_fn: _Function | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str = "inline",
    ) -> None:
        super().__init__(
            None, is_constant_jacobian, validate_args, None, forward_min_event_ndims, inverse_min_event_ndims, name
        )
        self._functions = {
            "forward": forward_fn,
            "inverse": inverse_fn,
            "inverse_log_det_jacobian": inverse_log_det_jacobian_fn,
            "forward_log_det_jacobian": forward_log_det_jacobian_fn,
        }
        self._shapes = {
            "forward": forward_event_shape_fn,
            "forward_tensor": forward_event_shape_tensor_fn,
            "inverse": inverse_event_shape_fn,
            "inverse_tensor": inverse_event_shape_tensor_fn,
        }

    def _called(self, which: str, value: Tensor, conditions: dict[str, Nest]) -> Nest:
        function = self._functions[which]
        if not callable(function):
            raise NotImplementedError(f"{which}_fn is not a callable function.")
        return function(value, **conditions)

    def _forward(self, x: Tensor, **kwargs: Nest) -> Tensor:
        y: Tensor = self._called("forward", x, kwargs)
        return y

    def _inverse(self, y: Tensor, **kwargs: Nest) -> Nest:
        return self._called("inverse", y, kwargs)

    def _inverse_log_det_jacobian(self, y: Tensor, **kwargs: Nest) -> Nest:
        return self._called("inverse_log_det_jacobian", y, kwargs)

    def _forward_log_det_jacobian(self, x: Tensor, **kwargs: Nest) -> Tensor:
        stretched: Tensor = self._called("forward_log_det_jacobian", x, kwargs)
        return stretched

    def _shape(self, which: str, value: Nest) -> Nest:
        function = self._shapes[which]
        return value if function is None else function(value)

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        return TensorShape(self._shape("forward", input_shape))

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        return TensorShape(self._shape("inverse", output_shape))

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Tensor:
        sizes: Tensor = self._shape("forward_tensor", input_shape)
        return sizes

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Tensor:
        sizes: Tensor = self._shape("inverse_tensor", output_shape)
        return sizes
