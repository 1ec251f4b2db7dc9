"""The managers of losses' scales that tf.contrib.mixed_precision has."""

from __future__ import annotations

from abc import ABC, abstractmethod

from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.ops.array.constant import constant
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group, no_op
from weft.ops.math.comparison import greater_equal, maximum
from weft.ops.math.unary import is_finite
from weft.ops.variables.variable import Variable


class LossScaleManager(ABC):
    """Tells what a loss is multiplied by, and changes it after each step."""

    __repr__ = printed("tf.contrib.mixed_precision")

    @abstractmethod
    def get_loss_scale(self) -> Tensor:
        """The present scale, a scalar."""

    @abstractmethod
    def update_loss_scale(self, finite_grads: Tensor) -> Operation:
        """The operation that changes the scale.

        Args:
            finite_grads: a scalar bool, whether all gradients of the step are finite.
        """


class FixedLossScaleManager(LossScaleManager):
    """The same scale for ever.

    Args:
        loss_scale: the scale, at least 1.

    Raises:
        ValueError: it is less than 1.
    """

    def __init__(self, loss_scale: float) -> None:
        if loss_scale < 1:
            raise ValueError(f"loss scale must be at least 1. Got: {loss_scale!r}")
        self._scale = constant(loss_scale, dtypes.float32)

    def get_loss_scale(self) -> Tensor:
        """The scale."""
        return self._scale

    def update_loss_scale(self, finite_grads: Tensor) -> Operation:
        """Nothing to change.

        Args:
            finite_grads: whether all gradients of the step are finite, which does not matter.
        """
        return no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A scale that grows after so many steps in a row with finite gradients, and shrinks after so many with others.

    Scale and counts are variables, `loss_scale`, `good_steps` and `bad_steps`.

    Args:
        init_loss_scale: the scale to begin with.
        incr_every_n_steps: after how many steps in a row with finite gradients it grows.
        decr_every_n_nan_or_inf: after how many others since then it shrinks.
        incr_ratio: by what it grows.
        decr_ratio: by what it shrinks; it stays at least 1.
    """

    def __init__(
        self, init_loss_scale: float, incr_every_n_steps: int, decr_every_n_nan_or_inf: int = 2, incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ) -> None:  # fmt: skip
        self._incr_every = incr_every_n_steps
        self._decr_every = decr_every_n_nan_or_inf
        self._incr_ratio = incr_ratio
        self._decr_ratio = decr_ratio
        self._scale: Variable = Variable(float(init_loss_scale), name="loss_scale", dtype=dtypes.float32, trainable=False)
        self._good_steps: Variable = Variable(0, name="good_steps", dtype=dtypes.int32, trainable=False)
        self._bad_steps: Variable = Variable(0, name="bad_steps", dtype=dtypes.int32, trainable=False)

    def get_loss_scale(self) -> Tensor:
        """The present scale."""
        return self._scale.read_value()

    def update_loss_scale(self, finite_grads: Tensor) -> Operation:
        """The operation that counts the step, and changes the scale when it is time.

        Args:
            finite_grads: a scalar bool, whether all gradients of the step are finite.
        """
        return group(cond(finite_grads, self._after_good_step, self._after_bad_step))

    def _after_good_step(self) -> Operation:
        def grow() -> Operation:
            grown = self._scale * self._incr_ratio
            return self._begin_anew(cond(is_finite(grown), lambda: grown, self._scale.read_value))

        due = greater_equal(self._good_steps + 1, self._incr_every)
        return group(cond(due, grow, lambda: group(self._good_steps.assign_add(1))))

    def _after_bad_step(self) -> Operation:
        def count() -> Operation:
            return group(self._bad_steps.assign_add(1), self._good_steps.assign(0))

        due = greater_equal(self._bad_steps + 1, self._decr_every)
        return group(cond(due, lambda: self._begin_anew(maximum(1.0, self._scale * self._decr_ratio)), count))

    def _begin_anew(self, scale: Tensor) -> Operation:
        return group(self._scale.assign(scale), self._good_steps.assign(0), self._bad_steps.assign(0))
