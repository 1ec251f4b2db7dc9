"""The optimizers: SGD, RMSprop, Adagrad, Adadelta, Adam, Adamax, Nadam and Ftrl."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework import dtypes
from weft.framework.aliases import Nest, TensorLike, VariableLike
from weft.framework.dtypes import DType
from weft.framework.graph import get_default_graph
from weft.framework.operation import Tensor
from weft.framework.tensor_conversion import convert_to_tensor
from weft.networks.config import Config, Hyperparameter, Options
from weft.networks.optimizers.optimizer import Optimizer
from weft.networks.state.defaults import epsilon as default_epsilon
from weft.ops.control_flow.ordering import group
from weft.ops.math.casting import cast
from weft.ops.math.division import power
from weft.ops.math.elementwise import square
from weft.ops.math.unary import sqrt
from weft.ops.state.scatter_update import resource_scatter_add
from weft.ops.training.apply_adagrad import adadelta, adagrad_v2
from weft.ops.training.apply_adam import ada_max, adam, adam_with_amsgrad, centered_rms_prop, rms_prop
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
        if isinstance(momentum, int | float) and not 0 <= momentum <= 1:
            raise ValueError("`momentum` must be between [0, 1].")
        self.set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self.set_hyper("momentum", momentum)
        self.has_momentum = not isinstance(momentum, int | float) or momentum > 0
        self.nesterov = nesterov

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the momenta."""
        if self.has_momentum:
            for var in var_list:
                self.add_slot(var, "momentum")

    def prepare(self, dtype: DType) -> None:
        """Make the rate and the momentum."""
        self.rate = self.decayed_rate(dtype)
        self.kept = self.value_of("momentum", dtype) if self.has_momentum else None

    def apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        """The update."""
        if not self.has_momentum:
            return gradient_descent.resource_dense(var.handle, self.rate, grad)
        slot = self.get_slot(var, "momentum").handle
        return keras_momentum.resource_dense(var.handle, slot, self.rate, grad, self.kept, use_nesterov=self.nesterov)

    def apply_sparse(self, grad: Tensor, var: VariableLike, indices: Tensor) -> Nest:
        """The update of some rows; the momenta of others stay."""
        if not self.has_momentum:
            return resource_scatter_add(var.handle, indices, -grad * self.rate)
        slot = self.get_slot(var, "momentum").handle
        return keras_momentum.resource_sparse(var.handle, slot, self.rate, grad, indices, self.kept, use_nesterov=self.nesterov)

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        hypers = {name: self.plain_hyper(name) for name in ("learning_rate", "decay", "momentum")}
        return {**super().get_config(), **hypers, "nesterov": self.nesterov}


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
        if isinstance(momentum, int | float) and not 0 <= momentum <= 1:
            raise ValueError("`momentum` must be between [0, 1].")
        self.set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self.set_hyper("rho", rho)
        self.set_hyper("momentum", momentum)
        self.has_momentum = not isinstance(momentum, int | float) or momentum > 0
        self.epsilon, self.centered = epsilon or default_epsilon(), centered

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the means, then the momenta, then the means of gradients."""
        wanted = [("rms", True), ("momentum", self.has_momentum), ("mg", self.centered)]
        for name in (name for name, is_wanted in wanted if is_wanted):
            for var in var_list:
                self.add_slot(var, name)

    def prepare(self, dtype: DType) -> None:
        """Make the rate, and how much stays."""
        self.rate, self.kept = self.decayed_rate(dtype), self.value_of("rho", dtype)
        self.drag = self.value_of("momentum", dtype) if self.has_momentum else None

    def _slots_of(self, var: VariableLike) -> list[Nest]:
        names = ["mg"] * self.centered + ["rms", "momentum"]
        return [var.handle, *(self.get_slot(var, name).handle for name in names)]

    def apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        """The update; without momentum the root is taken before epsilon is added."""
        if self.has_momentum:
            rule = centered_rms_prop if self.centered else rms_prop
            return rule.resource_dense(*self._slots_of(var), self.rate, self.kept, self.drag, self.epsilon, grad)
        mean = self.get_slot(var, "rms")
        squares = mean.assign(self.kept * mean + (1 - self.kept) * square(grad))
        spread = convert_to_tensor(squares)
        if self.centered:
            average = self.get_slot(var, "mg")
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
        hypers = {name: self.plain_hyper(name) for name in ("learning_rate", "decay", "rho", "momentum")}
        return {**super().get_config(), **hypers, "epsilon": self.epsilon, "centered": self.centered}


class Adagrad(Optimizer):
    """Steps by the root of the sum of all squared gradients (Duchi et al., 2011).

    Args:
        learning_rate: a number, a schedule, or a function of nothing.
        initial_accumulator_value: what the sums begin with.
        epsilon: what is added to the root; Keras's when None.
        name: the name of the operations.
        kwargs: see Optimizer.
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
        self.set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self.start, self.epsilon = initial_accumulator_value, epsilon or default_epsilon()

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the sums."""
        for var in var_list:
            self.add_slot(var, "accumulator", self.start)

    def prepare(self, dtype: DType) -> None:
        """Make the rate."""
        self.rate = self.decayed_rate(dtype)

    def apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        """The update."""
        return adagrad_v2.resource_dense(var.handle, self.get_slot(var, "accumulator").handle, self.rate, self.epsilon, grad)

    def apply_sparse(self, grad: Tensor, var: VariableLike, indices: Tensor) -> Nest:
        """The update of some rows."""
        slot = self.get_slot(var, "accumulator").handle
        return adagrad_v2.resource_sparse(var.handle, slot, self.rate, self.epsilon, grad, indices)

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        hypers = {name: self.plain_hyper(name) for name in ("learning_rate", "decay")}
        return {**super().get_config(), **hypers, "initial_accumulator_value": self.start, "epsilon": self.epsilon}


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
        self.set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self.set_hyper("rho", rho)
        self.epsilon = epsilon or default_epsilon()

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the means of gradients, then those of steps."""
        for name in ("accum_grad", "accum_var"):
            for var in var_list:
                self.add_slot(var, name)

    def prepare(self, dtype: DType) -> None:
        """Make the rate, and how much stays."""
        self.rate, self.kept = self.decayed_rate(dtype), self.value_of("rho", dtype)

    def _states(self, var: VariableLike) -> list[Nest]:
        return [var.handle, self.get_slot(var, "accum_grad").handle, self.get_slot(var, "accum_var").handle]

    def apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        """The update."""
        return adadelta.resource_dense(*self._states(var), self.rate, self.kept, self.epsilon, grad)

    def apply_sparse(self, grad: Tensor, var: VariableLike, indices: Tensor) -> Nest:
        """The update of some rows; the means of others stay."""
        return adadelta.resource_sparse(*self._states(var), self.rate, self.kept, self.epsilon, grad, indices)

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        hypers = {name: self.plain_hyper(name) for name in ("learning_rate", "decay", "rho")}
        return {**super().get_config(), **hypers, "epsilon": self.epsilon}


class _Moments(Optimizer):
    """What Adam and its kin share: two moving means per variable, and the powers of how much of them stays."""

    def __init__(
        self,
        learning_rate: Hyperparameter,
        beta_1: Hyperparameter,
        beta_2: Hyperparameter,
        epsilon: float | None,
        name: str,
        **kwargs: Options,
    ) -> None:
        super().__init__(name, **kwargs)
        self.set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self.set_hyper("beta_1", beta_1)
        self.set_hyper("beta_2", beta_2)
        self.epsilon = epsilon or default_epsilon()

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the means of gradients, then those of squares."""
        for name in ("m", "v"):
            for var in var_list:
                self.add_slot(var, name)

    def prepare(self, dtype: DType) -> None:
        """Make the rate, how much stays, and its powers."""
        self.rate = self.decayed_rate(dtype)
        self.first, self.second = self.value_of("beta_1", dtype), self.value_of("beta_2", dtype)
        step = cast(convert_to_tensor(self.iterations) + 1, dtype)
        self.first_power, self.second_power = power(self.first, step), power(self.second, step)

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        hypers = {name: self.plain_hyper(name) for name in ("learning_rate", "decay", "beta_1", "beta_2")}
        return {**super().get_config(), **hypers, "epsilon": self.epsilon}


class Adam(_Moments):
    """Adam (Kingma and Ba, 2015), in the form before section 2.1 of the paper.

    Args:
        learning_rate: a number, a schedule, or a function of nothing.
        beta_1, beta_2: how much of the means of gradients and of squares stays.
        epsilon: what is added to the root; Keras's when None.
        amsgrad: whether the greatest mean of squares so far is taken (Reddi et al., 2018).
        name: the name of the operations.
        kwargs: see Optimizer.
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        beta_1: Hyperparameter = 0.9,
        beta_2: Hyperparameter = 0.999,
        epsilon: float | None = 1e-7,
        amsgrad: bool = False,
        name: str = "Adam",
        **kwargs: Options,
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self.amsgrad = amsgrad

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the means, and the greatest ones."""
        super().create_slots(var_list)
        if self.amsgrad:
            for var in var_list:
                self.add_slot(var, "vhat")

    def apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        """The update."""
        names = ("m", "v", "vhat") if self.amsgrad else ("m", "v")
        slots = [self.get_slot(var, name).handle for name in names]
        rule = adam_with_amsgrad if self.amsgrad else adam
        return rule.resource_dense(
            var.handle, *slots, self.first_power, self.second_power, self.rate, self.first, self.second, self.epsilon, grad
        )

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        return {**super().get_config(), "amsgrad": self.amsgrad}


class Adamax(_Moments):
    """Adam by the greatest gradient instead of the mean of squares (Kingma and Ba, 2015, section 7); arguments as of Adam."""

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        beta_1: Hyperparameter = 0.9,
        beta_2: Hyperparameter = 0.999,
        epsilon: float | None = 1e-7,
        name: str = "Adamax",
        **kwargs: Options,
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)

    def apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        """The update."""
        slots = [self.get_slot(var, name).handle for name in ("m", "v")]
        return ada_max.resource_dense(
            var.handle, *slots, self.first_power, self.rate, self.first, self.second, self.epsilon, grad
        )


class Nadam(_Moments):
    """Adam with Nesterov's momentum, whose weight follows a schedule (Dozat, 2015); arguments as of Adam."""

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        beta_1: Hyperparameter = 0.9,
        beta_2: Hyperparameter = 0.999,
        epsilon: float | None = 1e-7,
        name: str = "Nadam",
        **kwargs: Options,
    ) -> None:
        # The momentum's schedule has a decay of its own, 0.004 unless it is given; the learning rate has none.
        self_decay = kwargs.pop("schedule_decay", 0.004)
        if callable(learning_rate):
            raise ValueError(
                "The Nadam optimizer does not support tf.keras.optimizers.LearningRateSchedules as the learning rate."
            )
        super().__init__(learning_rate, beta_1, beta_2, epsilon, name, **kwargs)
        self._initial_decay = 0.0
        self.set_hyper("decay", self_decay)
        self.cache: VariableLike = None

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the product of the momenta so far, and the means."""
        if self.cache is None:
            self.cache = self._weight("momentum_cache", 1.0)
            self._weights.append(self.cache)
        super().create_slots(var_list)

    def prepare(self, dtype: DType) -> None:
        """Make the momenta of this step and the next."""
        super().prepare(dtype)
        step = cast(convert_to_tensor(self.iterations) + 1, dtype)
        decay, base = self.value_of("decay", dtype), cast(convert_to_tensor(0.96), dtype)
        self.now = self.first * (1.0 - 0.5 * power(base, decay * step))
        self.next = self.first * (1.0 - 0.5 * power(base, decay * (step + 1)))
        before: TensorLike = convert_to_tensor(self.cache)
        self.product = cast(before, dtype) * self.now
        with get_default_graph().control_dependencies([self.product]):
            self.stored = self.cache.assign(cast(self.product, dtypes.float32)).op

    def apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        """The update."""
        m, v = self.get_slot(var, "m"), self.get_slot(var, "v")
        scaled = grad / (1.0 - self.product)
        mean = convert_to_tensor(m.assign(self.first * m + (1.0 - self.first) * grad))
        squares = convert_to_tensor(v.assign(self.second * v + (1.0 - self.second) * square(grad)))
        ahead = (1.0 - self.now) * scaled + self.next * (mean / (1.0 - self.product * self.next))
        step = self.rate * ahead / (sqrt(squares / (1.0 - self.second_power)) + self.epsilon)
        return group(var.assign_sub(step).op, self.stored)


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
        self.set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self.set_hyper("learning_rate_power", learning_rate_power)
        self.set_hyper("l1_regularization_strength", l1_regularization_strength)
        self.set_hyper("l2_regularization_strength", l2_regularization_strength)
        self.start, self.shrinkage = initial_accumulator_value, l2_shrinkage_regularization_strength

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the sums and the linear parts."""
        for var in var_list:
            self.add_slot(var, "accumulator", self.start)
            self.add_slot(var, "linear")

    def prepare(self, dtype: DType) -> None:
        """Make the rate and the penalties."""
        self.rate = self.decayed_rate(dtype)
        self.l1 = self.value_of("l1_regularization_strength", dtype)
        self.l2 = self.value_of("l2_regularization_strength", dtype)
        self.rate_power = self.value_of("learning_rate_power", dtype)

    def _arguments(self, var: VariableLike) -> tuple[list[Nest], list[Nest]]:
        slots = [self.get_slot(var, name).handle for name in ("accumulator", "linear")]
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
            **super().get_config(), **{name: self.plain_hyper(name) for name in own},
            "initial_accumulator_value": self.start, "l2_shrinkage_regularization_strength": self.shrinkage,
        }  # fmt: skip
