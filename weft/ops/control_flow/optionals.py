"""Optional values as variants: what gradients of branches keep for the branch that was not taken."""

from __future__ import annotations

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import op, scalar_shape
from weft.ops.held_objects import Held, handle_of, held, is_handle


class OptionalValue(Held):
    """Some tensors, or nothing."""

    __slots__ = ("values",)

    def __init__(self, values: list[Array] | None) -> None:
        self.values = values

    def zeros(self) -> Held:
        """An optional with zeros for each value, without a value where this one has none."""
        return OptionalValue(None if self.values is None else [_zeros(each) for each in self.values])

    def __add__(self, other: object) -> Held:
        """The sums of the values, without a value where neither has one."""
        if not isinstance(other, OptionalValue):
            raise InvalidArgumentError.of(f"Cannot add an optional and {other!r}")
        if self.values is None and other.values is None:
            return OptionalValue(None)
        if self.values is None or other.values is None:
            raise InvalidArgumentError.of("Cannot add optionals because one has a value and the other doesn't.")
        if len(self.values) != len(other.values):
            raise InvalidArgumentError.of(
                f"Cannot add optionals because one has {len(self.values)} values and the other {len(other.values)}"
            )
        return OptionalValue([_sum(one, two) for one, two in zip(self.values, other.values, strict=True)])


def _zeros(value: Array) -> Array:
    if value.dtype != object:
        return np.zeros_like(value)
    return handle_of(value[()].zeros()) if is_handle(value) else np.full(value.shape, b"", object)


def _sum(one: Array, two: Array) -> Array:
    return handle_of(one[()] + two[()]) if is_handle(one) else np.asarray(one) + np.asarray(two)


@op("OptionalFromValue", "components: [Toutput_types] -> optional: variant", infer=scalar_shape, gradient=None)
def optional_from_value(ctx: OpContext, components: list[Array], *, Toutput_types: list[DType]) -> Result:
    """An optional that has these values: `n*[*value] -> scalar variant`."""
    return handle_of(OptionalValue(list(components)))


@op("OptionalNone", "-> optional: variant", infer=scalar_shape, gradient=None)
def optional_none(ctx: OpContext) -> Result:
    """An optional without a value: `-> scalar variant`."""
    return handle_of(OptionalValue(None))


@op("OptionalHasValue", "optional: variant -> has_value: bool", infer=scalar_shape, gradient=None)
def optional_has_value(ctx: OpContext, optional: Array) -> Result:
    """Whether an optional has a value: `scalar variant -> scalar bool`."""
    return held(optional, OptionalValue).values is not None


def _declared(node: Operation) -> list[Dims]:
    return list(node.attrs["output_shapes"])


@op("OptionalGetValue", "optional: variant -> components: [output_types]", infer=_declared, gradient=None)
def optional_get_value(
    ctx: OpContext, optional: Array, *, output_types: list[DType], output_shapes: list[Dims]
) -> list[Result]:
    """The values of an optional, which has to have some: `scalar variant -> n*[*value]`."""
    values = held(optional, OptionalValue).values
    if values is None:
        raise InvalidArgumentError.of("The given optional does not have a value.")
    if len(values) != len(output_types):
        raise InvalidArgumentError.of(f"The given optional has {len(values)} components, expected {len(output_types)}.")
    return values
