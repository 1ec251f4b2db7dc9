"""ReduceOp: the ways in which values of replicas become one."""

from __future__ import annotations

import enum

from weft.ops.variables.options import VariableAggregation
from weft.platform.hints.spelling import did_you_mean


class ReduceOp(enum.Enum):
    """How values of replicas become one: their sum, or their mean."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: VariableAggregation) -> ReduceOp:
        """The reduction that an aggregation of variables means; ValueError for one that is none.

        Args:
            aggregation: `tf.VariableAggregation.SUM` or `MEAN`.
        """
        for each in (ReduceOp.SUM, ReduceOp.MEAN):
            if each.name == aggregation.name:
                return each
        raise ValueError(f"Could not convert from `tf.VariableAggregation` {aggregation} to`tf.distribute.ReduceOp` type")


def as_reduce_op(given: ReduceOp | str) -> ReduceOp:
    """The reduction that is given by itself or its name, in any case.

    Raises:
        ValueError: there is none of this name.
        TypeError: it is neither.
    """
    if isinstance(given, str):
        try:
            return ReduceOp(given.upper())
        except ValueError as error:
            raise ValueError(f"{error}: it is 'SUM' or 'MEAN'.{did_you_mean(given.upper(), ('SUM', 'MEAN'))}") from None
    if not isinstance(given, ReduceOp):
        raise TypeError(f"Expected `reduce_op` to be a `tf.distribute.ReduceOp`, not: {given!r}")
    return given
