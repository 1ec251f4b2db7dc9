"""Averages of variables and tensors that forget exponentially."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.node_errors import naming
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_role import Role
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.framework.types.value_types import OrNone
from weft.ops.control_flow.init_scope import init_scope
from weft.ops.control_flow.ordering import group
from weft.ops.math.casting import cast
from weft.ops.math.comparison import minimum
from weft.ops.math.division import divide, truediv
from weft.ops.variables.collections import global_variables, moving_average_variables, trainable_variables
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Zeros
from weft.ops.variables.moving_average import assign_moving_average
from weft.ops.variables.variable import Variable
from weft.ops.variables.variable_scope import variable_scope
from weft.platform.hints.argument_checks import check_arguments
from weft.training.optimizers import slot_creator


def weighted_moving_average(
    value: Tensor,
    decay: float | Tensor,
    weight: Tensor,
    truediv: bool = True,
    collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Tensor:
    """The moving average of `value * weight` divided by that of `weight`."""
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    with variable_scope(name, "WeightedMovingAvg", [value, weight]) as scope:
        products = _zero_variable("value_x_weight", value, collections)
        weights = _zero_variable("weight", weight, collections)
        numerator = assign_moving_average(products, value * weight, decay, zero_debias=False)
        denominator = assign_moving_average(weights, weight, decay, zero_debias=False)
        quotient = _true_quotient if truediv else divide
        return quotient(numerator, denominator, name=scope.name)


_true_quotient = truediv


def _zero_variable(name: str, like: Tensor, collections: Sequence[str]) -> Any:
    return get_variable(name, like.get_shape(), like.dtype, initializer=Zeros(), trainable=False, collections=collections)


class ExponentialMovingAverage:
    """Shadows of variables that follow them slowly.

        averages = tf.train.ExponentialMovingAverage(decay=0.999)
        with tf.control_dependencies([train_op]):
            update = averages.apply([w, b])
        slow_w = averages.average(w)

    Args:
        decay: how much of an average stays at each update, e.g. 0.999.
        num_updates: a count of updates, which makes the decay `min(decay, (1 + n) / (10 + n))`, so that early values
            are soon forgotten.
        zero_debias: whether averages of tensors are corrected for the zero that they start from.
        name: the name of the update operation and the suffix of the shadows.

    Raises:
        ValueError: `decay` is a number that is not between 0 and 1.

    >>> v = tf.Variable(1.0)
    >>> ema = tf.train.ExponentialMovingAverage(0.5)
    >>> update = ema.apply([v])
    >>> sess.run(tf.global_variables_initializer())
    >>> sess.run(v.assign(3.0))
    np.float32(3.0)
    >>> sess.run(update)
    >>> sess.run(ema.average(v))
    np.float32(2.0)
    """

    __repr__ = printed("tf.train")

    def __init__(
        self,
        decay: TensorLike,
        num_updates: TensorLike | None = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        check_arguments(ExponentialMovingAverage.__init__, name=name)
        if isinstance(decay, numbers.Real) and not 0.0 <= decay <= 1.0:
            raise ValueError(
                f"ExponentialMovingAverage: decay is {decay!r}; it is the part of an average that an update keeps, from 0 to "
                "1, such as 0.999."
            )
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict[Any, Any] = {}
        self._debiased: set[Any] = set()

    @property
    def name(self) -> str:
        """The name given."""
        return self._name

    def apply(self, var_list: Sequence[Any] | None = None) -> Operation:
        """Make shadows of variables (starting at their values) and tensors (at zero), and an operation that updates them.

        Args:
            var_list: what to average; all trainable variables when None.

        Returns:
            The Operation that updates all the averages.

        Raises:
            TypeError: one is of no floating type.
        """
        var_list = trainable_variables() if var_list is None else list(var_list)
        for var in var_list:
            if not hasattr(var, "dtype"):
                raise TypeError(f"ExponentialMovingAverage averages variables and tensors, not {var!r}.")
            if not var.dtype.base_dtype.is_floating:
                raise TypeError(f"The variables must be half, float, or double: {var.name}")
            if var not in self._averages:
                with init_scope():
                    self._averages[var] = self._make_average(var)
        with get_default_graph().name_scope(self._name) as scope:
            decay = self._effective_decay()
            updates = [
                assign_moving_average(self._averages[var], var, decay, zero_debias=var in self._debiased) for var in var_list
            ]
            return group(*updates, name=scope)

    def _make_average(self, var: Any) -> Any:
        if isinstance(var, Variable):
            get_default_graph().add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, var)
            with get_default_graph().device(getattr(var, "device", None)):
                value = var.initialized_value()  # type: ignore[attr-defined]
            return slot_creator.create_slot(var, value, self._name)
        if self._zero_debias:
            self._debiased.add(var)
        beside = var.op.op_def.role is Role.VARIABLE
        return slot_creator.create_zeros_slot(var, self._name, colocate_with_primary=beside)

    def _effective_decay(self) -> Any:
        with naming("It is a number below 1, such as 0.999.", decay=self._decay):
            decay = convert_to_tensor(self._decay, dtype=dtypes.float32, name="decay")
        if self._num_updates is None:
            return decay
        count = cast(self._num_updates, dtypes.float32, name="num_updates")
        return minimum(decay, (1.0 + count) / (10.0 + count))

    def average(self, var: Variable | Tensor) -> Variable | OrNone:
        """The shadow variable of `var`, None when it has none.

        Args:
            var: a variable or tensor that `apply` was given.
        """
        check_arguments(ExponentialMovingAverage.average, var=var)
        return self._averages.get(var)

    def average_name(self, var: Variable) -> str:
        """The name that the shadow of `var` has, or will have; for restoring shadows into variables.

        Args:
            var: a variable or tensor.
        """
        if var in self._averages:
            return self._averages[var].op.name  # type: ignore[no-any-return]
        return get_default_graph().unique_name(f"{var.op.name}/{self._name}", mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables: Sequence[Variable] | None = None) -> dict[str, Any]:
        """Names in checkpoints -> variables, such that averaged variables are restored from their shadows.

        Args:
            moving_avg_variables: those that have shadows; the trainable and the averaged ones when None.

        Returns:
            Variables by name, for a Saver's `var_list`.
        """
        if moving_avg_variables is None:
            moving_avg_variables = trainable_variables() + moving_average_variables()
        averaged = list(dict.fromkeys(moving_avg_variables))
        names = {self.average_name(var): var for var in averaged}
        known = {var.name for var in averaged}
        for var in global_variables():
            if var.name not in known and var.op.name not in names:
                names[var.op.name] = var
        return names
