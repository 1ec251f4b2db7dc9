"""RMSprop, Adagrad and Adadelta: steps scaled by means or sums of squared gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dtypes import DType
from weft.networks.config import Config, GivenConfig, Hyperparameter, Options
from weft.networks.optimizers.optimizer import Optimizer
from weft.networks.state.defaults import epsilon as default_epsilon
from weft.ops.math.elementwise import square
from weft.ops.math.unary import sqrt
from weft.ops.training.apply_adagrad import adadelta, adagrad_v2
from weft.ops.training.apply_adam import centered_rms_prop, rms_prop


class RMSprop(Optimizer):
    """Steps by the root of a moving mean of squared gradients (Tieleman and Hinton, 2012).

    Args:
        learning_rate: a number, a schedule, or a function of nothing.
        rho: how much of the mean stays.
        momentum: how much of a step the next one keeps.
        epsilon: what is added to the root; Keras's when None.
        centered: whether the variance is taken instead.
        name: the name of the operations.
        kwargs: see Optimizer.

    Raises:
        TypeError: the momentum is no number.
        ValueError: a momentum outside [0, 1].
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        rho: Hyperparameter = 0.9,
        momentum: Hyperparameter = 0.0,
        epsilon: float | None = 1e-7,
        centered: bool = False,
        name: str = "RMSprop",
        **kwargs: Options,
    ) -> None:
        super().__init__(name, **kwargs)
        if isinstance(momentum, str) or momentum is None:
            raise TypeError(f"`momentum` must be a number between [0, 1], got {momentum!r}.")
        if isinstance(momentum, int | float) and not 0 <= momentum <= 1:
            raise ValueError("`momentum` must be between [0, 1].")
        self.hypers.set("learning_rate", kwargs.get("lr", learning_rate))
        self.hypers.set("rho", rho)
        self.hypers.set("momentum", momentum)
        self.has_momentum = not isinstance(momentum, int | float) or momentum > 0
        self.epsilon, self.centered = epsilon or default_epsilon(), centered

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the means, then the momenta, then the means of gradients."""
        wanted = [("rms", True), ("momentum", self.has_momentum), ("mg", self.centered)]
        for name in (name for name, is_wanted in wanted if is_wanted):
            for var in var_list:
                self.slots.add(var, name)

    def prepare(self, dtype: DType) -> None:
        """Make the rate, and how much stays."""
        self.rate, self.kept = self.decayed_rate(dtype), self.hypers.value("rho", dtype)
        self.drag = self.hypers.value("momentum", dtype) if self.has_momentum else None

    def _slots_of(self, var: VariableLike) -> list[Nest]:
        names = ["mg"] * self.centered + ["rms", "momentum"]
        return [var.handle, *(self.slots.get(var, name).handle for name in names)]

    def apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        """The update; without momentum the root is taken before epsilon is added."""
        if self.has_momentum:
            rule = centered_rms_prop if self.centered else rms_prop
            return rule.resource_dense(*self._slots_of(var), self.rate, self.kept, self.drag, self.epsilon, grad)
        mean = self.slots.get(var, "rms")
        squares = mean.assign(self.kept * mean + (1 - self.kept) * square(grad))
        spread = convert_to_tensor(squares)
        if self.centered:
            average = self.slots.get(var, "mg")
            spread = spread - square(convert_to_tensor(average.assign(self.kept * average + (1 - self.kept) * grad)))
        return var.assign_sub(self.rate * grad / (sqrt(spread) + self.epsilon)).op

    def apply_sparse(self, grad: Tensor, var: VariableLike, indices: Tensor) -> Nest:
        """The update of some rows; with momentum the means of others stay."""
        if not self.has_momentum:
            return super().apply_sparse(grad, var, indices)
        rule = centered_rms_prop if self.centered else rms_prop
        return rule.resource_sparse(*self._slots_of(var), self.rate, self.kept, self.drag, self.epsilon, grad, indices)

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        hypers = self.hypers.plain("learning_rate", "decay", "rho", "momentum")
        return {**super().get_config(), **hypers, "epsilon": self.epsilon, "centered": self.centered}


class Adagrad(Optimizer):
    """Steps by the root of the sum of all squared gradients (Duchi et al., 2011).

    Args:
        learning_rate: a number, a schedule, or a function of nothing.
        initial_accumulator_value: what the sums begin with.
        epsilon: what is added to the root; Keras's when None.
        name: the name of the operations.
        kwargs: see Optimizer.

    Raises:
        ValueError: the sums would begin below 0.
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float | None = 1e-7,
        name: str = "Adagrad",
        **kwargs: Options,
    ) -> None:
        if initial_accumulator_value < 0.0:
            raise ValueError(f"initial_accumulator_value must be non-negative: {initial_accumulator_value}")
        super().__init__(name, **kwargs)
        self.hypers.set("learning_rate", kwargs.get("lr", learning_rate))
        self.start, self.epsilon = initial_accumulator_value, epsilon or default_epsilon()

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the sums."""
        for var in var_list:
            self.slots.add(var, "accumulator", self.start)

    def prepare(self, dtype: DType) -> None:
        """Make the rate."""
        self.rate = self.decayed_rate(dtype)

    def apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        """The update."""
        return adagrad_v2.resource_dense(var.handle, self.slots.get(var, "accumulator").handle, self.rate, self.epsilon, grad)

    def apply_sparse(self, grad: Tensor, var: VariableLike, indices: Tensor) -> Nest:
        """The update of some rows."""
        slot = self.slots.get(var, "accumulator").handle
        return adagrad_v2.resource_sparse(var.handle, slot, self.rate, self.epsilon, grad, indices)

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        hypers = self.hypers.plain("learning_rate", "decay")
        return {**super().get_config(), **hypers, "initial_accumulator_value": self.start, "epsilon": self.epsilon}

    @classmethod
    def from_config(cls, config: GivenConfig, custom_objects: Mapping[str, object] | None = None) -> Self:
        """An optimizer of its config, whose sums begin at 0 where it does not say: so do those of `compile("adagrad")`.

        Args:
            config: what `get_config` gave.
            custom_objects: classes and functions by the names that the config has.
        """
        return super().from_config({"initial_accumulator_value": 0.0, **config}, custom_objects)


class Adadelta(Optimizer):
    """Steps by the ratio of two moving means, so that no rate need be chosen (Zeiler, 2012).

    Args:
        learning_rate: a factor of the steps.
        rho: how much of the means stays.
        epsilon: what is added under the roots; Keras's when None.
        name: the name of the operations.
        kwargs: see Optimizer.
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        rho: Hyperparameter = 0.95,
        epsilon: float | None = 1e-7,
        name: str = "Adadelta",
        **kwargs: Options,
    ) -> None:
        super().__init__(name, **kwargs)
        self.hypers.set("learning_rate", kwargs.get("lr", learning_rate))
        self.hypers.set("rho", rho)
        self.epsilon = epsilon or default_epsilon()

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the means of gradients, then those of steps."""
        for name in ("accum_grad", "accum_var"):
            for var in var_list:
                self.slots.add(var, name)

    def prepare(self, dtype: DType) -> None:
        """Make the rate, and how much stays."""
        self.rate, self.kept = self.decayed_rate(dtype), self.hypers.value("rho", dtype)

    def _states(self, var: VariableLike) -> list[Nest]:
        return [var.handle, self.slots.get(var, "accum_grad").handle, self.slots.get(var, "accum_var").handle]

    def apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        """The update."""
        return adadelta.resource_dense(*self._states(var), self.rate, self.kept, self.epsilon, grad)

    def apply_sparse(self, grad: Tensor, var: VariableLike, indices: Tensor) -> Nest:
        """The update of some rows; the means of others stay."""
        return adadelta.resource_sparse(*self._states(var), self.rate, self.kept, self.epsilon, grad, indices)

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        hypers = self.hypers.plain("learning_rate", "decay", "rho")
        return {**super().get_config(), **hypers, "epsilon": self.epsilon}
