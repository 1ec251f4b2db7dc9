"""SGD and Ftrl: steps along the gradient, or to where its sums lead."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dtypes import DType
from weft.networks.config import Config, Hyperparameter, Options
from weft.networks.optimizers.optimizer import Optimizer
from weft.ops.math.casting import cast
from weft.ops.state.scatter_update import resource_scatter_add
from weft.ops.training.apply_descent import gradient_descent, keras_momentum
from weft.ops.training.apply_ftrl import ftrl, ftrl_v2


class SGD(Optimizer):
    """Gradient descent, with momentum or Nesterov's.

    Args:
        learning_rate: a number, a schedule, or a function of nothing.
        momentum: how much of a step the next one keeps.
        nesterov: whether gradients are taken ahead.
        name: the name of the operations.
        kwargs: see Optimizer.

    Raises:
        TypeError: the momentum is no number.
        ValueError: a momentum outside [0, 1].
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.01,
        momentum: Hyperparameter = 0.0,
        nesterov: bool = False,
        name: str = "SGD",
        **kwargs: Options,
    ) -> None:
        super().__init__(name, **kwargs)
        if isinstance(momentum, str) or momentum is None:
            raise TypeError(f"`momentum` must be a number between [0, 1], got {momentum!r}.")
        if isinstance(momentum, int | float) and not 0 <= momentum <= 1:
            raise ValueError("`momentum` must be between [0, 1].")
        self.hypers.set("learning_rate", kwargs.get("lr", learning_rate))
        self.hypers.set("momentum", momentum)
        self.has_momentum = not isinstance(momentum, int | float) or momentum > 0
        self.nesterov = nesterov

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the momenta."""
        if self.has_momentum:
            for var in var_list:
                self.slots.add(var, "momentum")

    def prepare(self, dtype: DType) -> None:
        """Make the rate and the momentum."""
        self.rate = self.decayed_rate(dtype)
        self.kept = self.hypers.value("momentum", dtype) if self.has_momentum else None

    def apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        """The update."""
        if not self.has_momentum:
            return gradient_descent.resource_dense(var.handle, self.rate, grad)
        slot = self.slots.get(var, "momentum").handle
        return keras_momentum.resource_dense(var.handle, slot, self.rate, grad, self.kept, use_nesterov=self.nesterov)

    def apply_sparse(self, grad: Tensor, var: VariableLike, indices: Tensor) -> Nest:
        """The update of some rows; the momenta of others stay."""
        if not self.has_momentum:
            return resource_scatter_add(var.handle, indices, -grad * self.rate)
        slot = self.slots.get(var, "momentum").handle
        return keras_momentum.resource_sparse(var.handle, slot, self.rate, grad, indices, self.kept, use_nesterov=self.nesterov)

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        hypers = self.hypers.plain("learning_rate", "decay", "momentum")
        return {**super().get_config(), **hypers, "nesterov": self.nesterov}


class Ftrl(Optimizer):
    """Follow the regularized leader (McMahan et al., 2013).

    Args:
        learning_rate: a number, a schedule, or a function of nothing.
        learning_rate_power: at most 0.
        initial_accumulator_value: what the sums begin with.
        l1_regularization_strength, l2_regularization_strength: penalties.
        name: the name of the operations.
        l2_shrinkage_regularization_strength: a penalty on magnitudes alone.
        kwargs: see Optimizer.

    Raises:
        ValueError: a strength or a sum below 0, or a power above 0.
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        name: str = "Ftrl",
        l2_shrinkage_regularization_strength: float = 0.0,
        **kwargs: Options,
    ) -> None:
        super().__init__(name, **kwargs)
        for what, value, is_wrong in (
            ("initial_accumulator_value", initial_accumulator_value, initial_accumulator_value < 0),
            ("learning_rate_power", learning_rate_power, learning_rate_power > 0),
            ("l1_regularization_strength", l1_regularization_strength, l1_regularization_strength < 0),
            ("l2_regularization_strength", l2_regularization_strength, l2_regularization_strength < 0),
        ):
            if is_wrong:
                kind = "less than or equal to zero" if what == "learning_rate_power" else "positive or zero"
                raise ValueError(f"{what} {value} needs to be {kind}")
        self.hypers.set("learning_rate", kwargs.get("lr", learning_rate))
        self.hypers.set("learning_rate_power", learning_rate_power)
        self.hypers.set("l1_regularization_strength", l1_regularization_strength)
        self.hypers.set("l2_regularization_strength", l2_regularization_strength)
        self.start, self.shrinkage = initial_accumulator_value, l2_shrinkage_regularization_strength

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the sums and the linear parts."""
        for var in var_list:
            self.slots.add(var, "accumulator", self.start)
            self.slots.add(var, "linear")

    def prepare(self, dtype: DType) -> None:
        """Make the rate and the penalties."""
        self.rate = self.decayed_rate(dtype)
        self.l1 = self.hypers.value("l1_regularization_strength", dtype)
        self.l2 = self.hypers.value("l2_regularization_strength", dtype)
        self.rate_power = self.hypers.value("learning_rate_power", dtype)

    def _arguments(self, var: VariableLike) -> tuple[list[Nest], list[Nest]]:
        slots = [self.slots.get(var, name).handle for name in ("accumulator", "linear")]
        shrinking = [cast(convert_to_tensor(float(self.shrinkage)), var.dtype.base_dtype)] if self.shrinkage > 0 else []
        return [var.handle, *slots], [self.rate, self.l1, self.l2, *shrinking, self.rate_power]

    def apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        """The update."""
        states, rest = self._arguments(var)
        return (ftrl_v2 if self.shrinkage > 0 else ftrl).resource_dense(*states, grad, *rest)

    def apply_sparse(self, grad: Tensor, var: VariableLike, indices: Tensor) -> Nest:
        """The update of some rows."""
        states, rest = self._arguments(var)
        return (ftrl_v2 if self.shrinkage > 0 else ftrl).resource_sparse(*states, grad, indices, *rest)

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        own = ("learning_rate", "decay", "learning_rate_power", "l1_regularization_strength", "l2_regularization_strength")
        return {
            **super().get_config(), **self.hypers.plain(*own),
            "initial_accumulator_value": self.start, "l2_shrinkage_regularization_strength": self.shrinkage,
        }  # fmt: skip
