"""LossScale: by what a loss is multiplied, and how that follows from the gradients that it leads to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

from weft.framework.building.aliases import Nest
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nested import nest
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.constant import constant
from weft.ops.array.stacking import stack
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group, no_op
from weft.ops.math.comparison import greater_equal, maximum
from weft.ops.math.reduce_functions import reduce_all
from weft.ops.math.unary import is_finite
from weft.ops.variables.variable import Variable


def all_finite(grads: Nest) -> Tensor:
    """Whether all elements of gradients are finite, a scalar bool; those that are None do not count.

    Args:
        grads: gradients, in any structure.
    """
    given = [grad.values if isinstance(grad, IndexedSlices) else grad for grad in nest.flatten(grads) if grad is not None]
    return reduce_all(stack([reduce_all(is_finite(grad)) for grad in given])) if given else constant(True)


class LossScale(ABC):
    """What losses are multiplied by; called, it gives the present scale, a scalar float32 tensor."""

    @abstractmethod
    def __call__(self) -> Tensor:
        """The present scale."""

    @abstractmethod
    def update(self, grads: Nest) -> tuple[Operation, Tensor | bool]:
        """The operation that changes the scale as the gradients call for, and whether they are to be applied.

        Args:
            grads: gradients of the unscaled loss, in any structure.
        """

    @abstractmethod
    def get_config(self) -> dict[str, float]:
        """The constructor's arguments."""

    @classmethod
    def from_config(cls, config: dict[str, float]) -> LossScale:
        """One as another one's `get_config` tells.

        Args:
            config: the constructor's arguments.
        """
        return cls(**config)

    def variables(self) -> list[Variable]:
        """The variables that it keeps."""
        return []

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value}' for key, value in self.get_config().items())})"


class FixedLossScale(LossScale):
    """The same scale for ever; gradients are applied whatever they are.

    Args:
        loss_scale_value: the scale, at least 1.

    Raises:
        ValueError: it is no number, or less than 1.
    """

    def __init__(self, loss_scale_value: float) -> None:
        if not isinstance(loss_scale_value, int | float):
            raise ValueError(f"loss_scale_value must be a Python int or float. Got: {loss_scale_value!r}")
        if loss_scale_value < 1:
            raise ValueError(f"loss_scale_value must be at least 1. Got: {loss_scale_value!r}")
        self._scale = float(loss_scale_value)

    def __call__(self) -> Tensor:
        return constant(self._scale, dtypes.float32)

    def update(self, grads: Nest) -> tuple[Operation, bool]:
        """Nothing to change; the gradients are to be applied.

        Args:
            grads: gradients, which do not matter.
        """
        return no_op(), True

    def get_config(self) -> dict[str, float]:
        """The constructor's arguments."""
        return {"loss_scale_value": self._scale}

    def __repr__(self) -> str:
        return f"FixedLossScale({self._scale})"


class DynamicLossScale(LossScale):
    """A scale that grows after so many steps with finite gradients, and shrinks with each step that has others.

    Gradients that are not finite are not applied. Scale and count are variables, `current_loss_scale` and `good_steps`.

    Args:
        initial_loss_scale: the scale to begin with.
        increment_period: after how many steps in a row with finite gradients it grows.
        multiplier: by what it grows and shrinks; it stays at least 1.
    """

    def __init__(
        self, initial_loss_scale: float = 32768, increment_period: int = 2000, multiplier: float = 2.0
    ) -> None:  # fmt: skip
        self._initial = float(initial_loss_scale)
        self._period = int(increment_period)
        self._multiplier = float(multiplier)
        self._scale: Variable = _counter("current_loss_scale", self._initial, dtypes.float32)
        self._good_steps: Variable = _counter("good_steps", 0, dtypes.int64)

    @property
    def initial_loss_scale(self) -> float:
        """The scale to begin with."""
        return self._initial

    @property
    def increment_period(self) -> int:
        """After how many steps in a row with finite gradients it grows."""
        return self._period

    @property
    def multiplier(self) -> float:
        """By what it grows and shrinks."""
        return self._multiplier

    def __call__(self) -> Tensor:
        return self._scale.read_value()

    def update(self, grads: Nest) -> tuple[Operation, Tensor]:
        """The operation that counts the step and changes the scale, and whether all gradients are finite.

        Args:
            grads: gradients of the unscaled loss, in any structure.
        """
        finite = all_finite(grads)
        return cond(finite, self._after_good_step, self._after_bad_step).op, finite

    def _after_good_step(self) -> Operation:
        return group(cond(greater_equal(self._good_steps + 1, self._period), self._grow, self._count))

    def _count(self) -> Operation:
        return group(self._good_steps.assign_add(1))

    def _grow(self) -> Operation:
        grown = self._scale * self._multiplier
        to_scale = cond(is_finite(grown), lambda: grown, self._scale.read_value)
        return group(self._scale.assign(to_scale), self._good_steps.assign(0))

    def _after_bad_step(self) -> Operation:
        return group(self._scale.assign(maximum(self._scale / self._multiplier, 1.0)), self._good_steps.assign(0))

    def variables(self) -> list[Variable]:
        """The scale, and the count of good steps."""
        return [self._scale, self._good_steps]

    def checkpoint_dependencies(self) -> Iterable[tuple[str, object]]:
        """What a checkpoint follows."""
        return [("current_loss_scale", self._scale), ("good_steps", self._good_steps)]

    def get_config(self) -> dict[str, float]:
        """The constructor's arguments."""
        return {"initial_loss_scale": self._initial, "increment_period": self._period, "multiplier": self._multiplier}


def loss_scale_of(identifier: LossScale | float | str) -> LossScale:
    """The scale that "dynamic" or a number stands for.

    Args:
        identifier: a scale, a number, or "dynamic".

    Raises:
        ValueError: another text, or nothing.
    """
    if isinstance(identifier, LossScale):
        return identifier
    if identifier == "dynamic":
        return DynamicLossScale()
    if isinstance(identifier, int | float):
        return FixedLossScale(identifier)
    raise ValueError(f"Could not interpret loss scale identifier: {identifier}. It is 'dynamic', a number or a LossScale.")


def _counter(name: str, value: float, dtype: dtypes.DType) -> Variable:
    return Variable(value, name=name, dtype=dtype, trainable=False, use_resource=True)
