"""Adam, Adamax and Nadam: steps by two moving means."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.networks.config import Config, Hyperparameter, Options
from weft.networks.optimizers.hyperparameters import scalar_variable
from weft.networks.optimizers.optimizer import Optimizer
from weft.networks.state.defaults import epsilon as default_epsilon
from weft.ops.control_flow.ordering import group
from weft.ops.math.casting import cast
from weft.ops.math.division import power
from weft.ops.math.elementwise import square
from weft.ops.math.unary import sqrt
from weft.ops.training.apply_adam import ada_max, adam, adam_with_amsgrad


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
        self.hypers.set("learning_rate", kwargs.get("lr", learning_rate))
        self.hypers.set("beta_1", beta_1)
        self.hypers.set("beta_2", beta_2)
        self.epsilon = epsilon or default_epsilon()

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the means of gradients, then those of squares."""
        for name in ("m", "v"):
            for var in var_list:
                self.slots.add(var, name)

    def prepare(self, dtype: DType) -> None:
        """Make the rate, how much stays, and its powers."""
        self.rate = self.decayed_rate(dtype)
        self.first, self.second = self.hypers.value("beta_1", dtype), self.hypers.value("beta_2", dtype)
        step = cast(convert_to_tensor(self.iterations) + 1, dtype)
        self.first_power, self.second_power = power(self.first, step), power(self.second, step)

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        hypers = self.hypers.plain("learning_rate", "decay", "beta_1", "beta_2")
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
                self.slots.add(var, "vhat")

    def apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        """The update."""
        names = ("m", "v", "vhat") if self.amsgrad else ("m", "v")
        slots = [self.slots.get(var, name).handle for name in names]
        rule = adam_with_amsgrad if self.amsgrad else adam
        return rule.resource_dense(
            var.handle, *slots, self.first_power, self.second_power, self.rate, self.first, self.second, self.epsilon, grad
        )

    def get_config(self) -> Config:
        """The arguments that make an equal one."""
        return {**super().get_config(), "amsgrad": self.amsgrad}


class Adamax(_Moments):
    """Adam by the greatest gradient instead of the mean of squares (Kingma and Ba, 2015, section 7).

    Args:
        learning_rate: a number, a schedule, or a function of nothing.
        beta_1, beta_2: how much stays of the mean and of the second number.
        epsilon: what is added to the divisor; Keras's when None.
        name: the name of the operations.
        kwargs: `clipnorm`, `clipvalue` and `decay` of `tf.keras.optimizers.Optimizer`.
    """

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
        slots = [self.slots.get(var, name).handle for name in ("m", "v")]
        return ada_max.resource_dense(
            var.handle, *slots, self.first_power, self.rate, self.first, self.second, self.epsilon, grad
        )


class Nadam(_Moments):
    """Adam with Nesterov's momentum, whose weight follows a schedule (Dozat, 2015).

    Args:
        learning_rate: a number, a schedule, or a function of nothing.
        beta_1, beta_2: how much stays of the mean and of the second number.
        epsilon: what is added to the divisor; Keras's when None.
        name: the name of the operations.
        kwargs: `clipnorm`, `clipvalue` and `decay` of `tf.keras.optimizers.Optimizer`.

    Raises:
        ValueError: the learning rate is a schedule.
    """

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
        self._decays = False
        self.hypers.set("decay", self_decay)
        self.cache: VariableLike = None
        self._before: Tensor | None = None  # the product before this step, read once for all types of variables

    def create_slots(self, var_list: Sequence[VariableLike]) -> None:
        """Make the product of the momenta so far, and the means."""
        if self.cache is None:
            self.cache = scalar_variable("momentum_cache", 1.0)
            self.slots.keep(self.cache)
        self._before = None
        super().create_slots(var_list)

    def prepare(self, dtype: DType) -> None:
        """Make the momenta of this step and the next."""
        super().prepare(dtype)
        step = cast(convert_to_tensor(self.iterations) + 1, dtype)
        decay, base = self.hypers.value("decay", dtype), cast(convert_to_tensor(0.96), dtype)
        self.now = self.first * (1.0 - 0.5 * power(base, decay * step))
        self.next = self.first * (1.0 - 0.5 * power(base, decay * (step + 1)))
        if self._before is None:
            self._before = convert_to_tensor(self.cache)
        self.product = cast(self._before, dtype) * self.now
        with get_default_graph().control_dependencies([self.product]):
            self.stored = self.cache.assign(cast(self.product, dtypes.float32)).op

    def apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        """The update."""
        m, v = self.slots.get(var, "m"), self.slots.get(var, "v")
        scaled = grad / (1.0 - self.product)
        mean = convert_to_tensor(m.assign(self.first * m + (1.0 - self.first) * grad))
        squares = convert_to_tensor(v.assign(self.second * v + (1.0 - self.second) * square(grad)))
        ahead = (1.0 - self.now) * scaled + self.next * (mean / (1.0 - self.product * self.next))
        step = self.rate * ahead / (sqrt(squares / (1.0 - self.second_power)) + self.epsilon)
        return group(var.assign_sub(step).op, self.stored)
