"""Learning rates that are functions of the step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Self

from weft.framework.building.aliases import VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types.printed import printed
from weft.networks.config import Config, GivenConfig
from weft.networks.objects import registry
from weft.networks.objects.arguments import config_of, keeps_arguments
from weft.training.optimizers import learning_rate_decay as decay


class LearningRateSchedule:
    """The base of schedules: a function of the step that gives the learning rate, and its config."""

    __repr__ = printed("tf.keras.optimizers.schedules")

    def __call__(self, step: VariableLike) -> Tensor:
        """The learning rate at a step."""
        raise NotImplementedError("Learning rate schedule must override __call__")

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        return config_of(getattr(self, "kept_arguments", {}))

    @classmethod
    def from_config(cls, config: GivenConfig) -> Self:
        """A schedule of its config.

        Args:
            config: the constructor's arguments by name, as `get_config` gives them.
        """
        return cls(**config)


def _value(made: Any) -> Tensor:
    return convert_to_tensor(made() if callable(made) else made)


class ExponentialDecay(LearningRateSchedule):
    """`initial * rate ** (step / decay_steps)`, in stairs if `staircase`.

    Args:
        initial_learning_rate: the rate at step 0.
        decay_steps: the steps for one factor.
        decay_rate: the factor.
        staircase: whether the rate changes after whole `decay_steps` only.
        name: the name scope.
    """

    @keeps_arguments
    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: int,
        decay_rate: float,
        staircase: bool = False,
        name: str | None = None,
    ) -> None:
        self._given = (decay_steps, decay_rate, staircase, name)
        self.initial_learning_rate = initial_learning_rate

    def __call__(self, step: VariableLike) -> Tensor:
        """The learning rate at a step."""
        return _value(decay.exponential_decay(self.initial_learning_rate, step, *self._given))


class InverseTimeDecay(LearningRateSchedule):
    """`initial / (1 + rate * step / decay_steps)`, in stairs if `staircase`.

    Args:
        initial_learning_rate: the rate at step 0.
        decay_steps: the steps after which the divisor has grown by `decay_rate`.
        decay_rate: how much the divisor grows.
        staircase: whether the rate changes after whole `decay_steps` only.
        name: the name scope.
    """

    @keeps_arguments
    def __init__(
        self,
        initial_learning_rate: float,
        decay_steps: int,
        decay_rate: float,
        staircase: bool = False,
        name: str | None = None,
    ) -> None:
        self._given = (decay_steps, decay_rate, staircase, name)
        self.initial_learning_rate = initial_learning_rate

    def __call__(self, step: VariableLike) -> Tensor:
        """The learning rate at a step."""
        return _value(decay.inverse_time_decay(self.initial_learning_rate, step, *self._given))


class PolynomialDecay(LearningRateSchedule):
    """From the initial rate to another over `decay_steps`, by a power of what is left; from the start again if `cycle`.

    Args:
        initial_learning_rate: the rate at step 0.
        decay_steps: the steps until the end.
        end_learning_rate: the rate at the end and after it.
        power: 1 for a straight line.
        cycle: whether the fall begins anew over multiples of `decay_steps`.
        name: the name scope.
    """

    @keeps_arguments
    def __init__(
        self, initial_learning_rate: float, decay_steps: int, end_learning_rate: float = 0.0001, power: float = 1.0,
        cycle: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        self._given = (decay_steps, end_learning_rate, power, cycle, name)
        self.initial_learning_rate = initial_learning_rate

    def __call__(self, step: VariableLike) -> Tensor:
        """The learning rate at a step."""
        return _value(decay.polynomial_decay(self.initial_learning_rate, step, *self._given))


class PiecewiseConstantDecay(LearningRateSchedule):
    """One rate up to each boundary, and another beyond the last.

    Args:
        boundaries: steps, in growing order.
        values: the rates, one more than boundaries.
        name: the name scope.

    Raises:
        ValueError: their numbers do not fit.
    """

    @keeps_arguments
    def __init__(self, boundaries: Sequence[float], values: Sequence[float], name: str | None = None) -> None:
        if len(boundaries) != len(values) - 1:
            raise ValueError("The length of boundaries should be 1 less than the length of values")
        self.boundaries, self.values, self.name = list(boundaries), list(values), name

    def __call__(self, step: VariableLike) -> Tensor:
        """The learning rate at a step."""
        tensor = convert_to_tensor(step)
        limits = [convert_to_tensor(float(each), dtype=tensor.dtype) for each in self.boundaries]
        return _value(decay.piecewise_constant(tensor, limits, self.values, self.name))


class CosineDecay(LearningRateSchedule):
    """Half a cosine from the initial rate to `alpha` times it.

    Args:
        initial_learning_rate: the rate at the first step.
        decay_steps: the length of the half cosine.
        alpha: what part of the initial rate is the lowest.
        name: the name of the operations.
    """

    @keeps_arguments
    def __init__(self, initial_learning_rate: float, decay_steps: int, alpha: float = 0.0, name: str | None = None) -> None:
        self._given = (decay_steps, alpha, name)
        self.initial_learning_rate = initial_learning_rate

    def __call__(self, step: VariableLike) -> Tensor:
        """The learning rate at a step."""
        return _value(decay.cosine_decay(self.initial_learning_rate, step, *self._given))


class CosineDecayRestarts(LearningRateSchedule):
    """Half cosines one after the other, each `t_mul` times as long and `m_mul` times as high as the one before.

    Args:
        initial_learning_rate: the rate at the first step.
        first_decay_steps: the length of the first half cosine.
        t_mul, m_mul: the factors of length and height.
        alpha: what part of the initial rate is the lowest.
        name: the name of the operations.
    """

    @keeps_arguments
    def __init__(
        self, initial_learning_rate: float, first_decay_steps: int, t_mul: float = 2.0, m_mul: float = 1.0, alpha: float = 0.0,
        name: str | None = None,
    ) -> None:  # fmt: skip
        self._given = (first_decay_steps, t_mul, m_mul, alpha, name)
        self.initial_learning_rate = initial_learning_rate

    def __call__(self, step: VariableLike) -> Tensor:
        """The learning rate at a step."""
        return _value(decay.cosine_decay_restarts(self.initial_learning_rate, step, *self._given))


class LinearCosineDecay(LearningRateSchedule):
    """A straight line times a cosine.

    Args:
        initial_learning_rate: the rate at the first step.
        decay_steps: the length of the line.
        num_periods: how many periods the cosine has.
        alpha, beta: what is added to line and product.
        name: the name of the operations.
    """

    @keeps_arguments
    def __init__(
        self, initial_learning_rate: float, decay_steps: int, num_periods: float = 0.5, alpha: float = 0.0,
        beta: float = 0.001, name: str | None = None,
    ) -> None:  # fmt: skip
        self._given = (decay_steps, num_periods, alpha, beta, name)
        self.initial_learning_rate = initial_learning_rate

    def __call__(self, step: VariableLike) -> Tensor:
        """The learning rate at a step."""
        return _value(decay.linear_cosine_decay(self.initial_learning_rate, step, *self._given))


class NoisyLinearCosineDecay(LearningRateSchedule):
    """A straight line with noise, which becomes smaller, times a cosine.

    Args:
        initial_learning_rate: the rate at the first step.
        decay_steps: the length of the line.
        initial_variance: the noise's variance at the first step.
        variance_decay: how fast it becomes smaller.
        num_periods: how many periods the cosine has.
        alpha, beta: what is added to line and product.
        name: the name of the operations.
    """

    @keeps_arguments
    def __init__(
        self, initial_learning_rate: float, decay_steps: int, initial_variance: float = 1.0, variance_decay: float = 0.55,
        num_periods: float = 0.5, alpha: float = 0.0, beta: float = 0.001, name: str | None = None,
    ) -> None:  # fmt: skip
        self._given = (decay_steps, initial_variance, variance_decay, num_periods, alpha, beta, name)
        self.initial_learning_rate = initial_learning_rate

    def __call__(self, step: VariableLike) -> Tensor:
        """The learning rate at a step."""
        return _value(decay.noisy_linear_cosine_decay(self.initial_learning_rate, step, *self._given))


_OBJECTS: Final[dict[str, Callable[..., LearningRateSchedule]]] = {
    each.__name__: each
    for each in (
        ExponentialDecay,
        InverseTimeDecay,
        PolynomialDecay,
        PiecewiseConstantDecay,
        CosineDecay,
        CosineDecayRestarts,
        LinearCosineDecay,
        NoisyLinearCosineDecay,
    )
}
serialize_schedule = registry.serialize_keras_object
deserialize_schedule = registry.deserializer(_OBJECTS, "decay")
