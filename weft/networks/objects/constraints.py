"""tf.keras.constraints: projections that weights go through after each update."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Self

from weft.framework.nodes.operation import Tensor
from weft.framework.types.printed import printed
from weft.networks.objects import registry
from weft.networks.state.defaults import epsilon
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.array.stacking import stack
from weft.ops.math.casting import cast
from weft.ops.math.clip import clip_by_value
from weft.ops.math.comparison import greater_equal
from weft.ops.math.elementwise import square
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import sqrt

_Axes = int | Sequence[int]


def _norm(w: Tensor, axis: _Axes) -> Tensor:
    return sqrt(reduce_sum(square(w), axis=axis, keepdims=True))


class Constraint:
    """The base of constraints: a function of weights that gives weights, and its config."""

    __repr__ = printed("tf.keras.constraints")

    def __call__(self, w: Tensor) -> Tensor:
        """The weights, projected."""
        return w

    def get_config(self) -> dict[str, object]:
        """The arguments that make an equal one."""
        return {}

    @classmethod
    def from_config(cls, config: dict[str, object]) -> Self:
        """A constraint of its config.

        Args:
            config: the constructor's arguments by name, as `get_config` gives them.
        """
        return cls(**config)


class MaxNorm(Constraint):
    """Weights whose norms along `axis` are at most `max_value`.

    Args:
        max_value: the greatest norm.
        axis: the dimension, or dimensions, over which a norm is taken.
    """

    def __init__(self, max_value: float = 2, axis: _Axes = 0) -> None:
        self.max_value, self.axis = max_value, axis

    def __call__(self, w: Tensor) -> Tensor:
        """The weights, projected."""
        norms = _norm(w, self.axis)
        return w * (clip_by_value(norms, 0, self.max_value) / (epsilon() + norms))

    def get_config(self) -> dict[str, object]:
        """The bound and the axis."""
        return {"max_value": self.max_value, "axis": self.axis}


class NonNeg(Constraint):
    """Weights of which none is negative: those become zero."""

    def __call__(self, w: Tensor) -> Tensor:
        """The weights, projected."""
        return w * cast(greater_equal(w, 0.0), w.dtype.base_dtype)


class UnitNorm(Constraint):
    """Weights whose norms along `axis` are 1.

    Args:
        axis: the dimension, or dimensions, over which a norm is taken.
    """

    def __init__(self, axis: _Axes = 0) -> None:
        self.axis = axis

    def __call__(self, w: Tensor) -> Tensor:
        """The weights, projected."""
        return w / (epsilon() + _norm(w, self.axis))

    def get_config(self) -> dict[str, object]:
        """The axis."""
        return {"axis": self.axis}


class MinMaxNorm(Constraint):
    """Weights whose norms along `axis` go, by `rate` of the way, between two bounds.

    Args:
        min_value, max_value: the least and the greatest norm.
        rate: how much of the way to them a norm outside goes at a step, 0 to 1.
        axis: the dimension, or dimensions, over which a norm is taken.
    """

    def __init__(self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: _Axes = 0) -> None:
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w: Tensor) -> Tensor:
        """The weights, projected."""
        norms = _norm(w, self.axis)
        desired = self.rate * clip_by_value(norms, self.min_value, self.max_value) + (1 - self.rate) * norms
        return w * (desired / (epsilon() + norms))

    def get_config(self) -> dict[str, object]:
        """The bounds, the rate and the axis."""
        return {"min_value": self.min_value, "max_value": self.max_value, "rate": self.rate, "axis": self.axis}


class RadialConstraint(Constraint):
    """Square kernels of images whose weights depend on the distance from the centre alone."""

    def __call__(self, w: Tensor) -> Tensor:
        """The weights, each ring of the kernel filled with the one above its centre; ValueError unless of rank 4."""
        dims = [int(each or 0) for each in w.shape.as_list()]
        if len(dims) != 4:
            raise ValueError(f"The weight tensor must be of rank 4, but is of shape: {w.shape}")
        height, width = dims[0], dims[1]
        if height != width:
            raise ValueError(f"RadialConstraint: the kernel must be square, but it is {height} x {width}")
        centre = (height - 1) / 2
        rows = [[max(abs(i - centre), abs(j - centre)) for j in range(width)] for i in range(height)]
        flat = reshape(w, [height * width, *dims[2:]])
        made = [flat[int(centre - ring) * width + int(centre)] for line in rows for ring in line]
        return reshape(stack(made), shape(w))


max_norm, non_neg, unit_norm, min_max_norm, radial_constraint = MaxNorm, NonNeg, UnitNorm, MinMaxNorm, RadialConstraint

OBJECTS: Final = {
    "MaxNorm": MaxNorm, "max_norm": MaxNorm, "NonNeg": NonNeg, "non_neg": NonNeg, "UnitNorm": UnitNorm,
    "unit_norm": UnitNorm, "MinMaxNorm": MinMaxNorm, "min_max_norm": MinMaxNorm, "RadialConstraint": RadialConstraint,
    "radial_constraint": RadialConstraint, "maxnorm": MaxNorm, "nonneg": NonNeg, "unitnorm": UnitNorm, "Constraint": Constraint,
}  # fmt: skip

get = registry.getter(OBJECTS, "constraint")
deserialize = registry.deserializer(OBJECTS, "constraint")
serialize = registry.serializer("constraint")
