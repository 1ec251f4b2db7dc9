"""ConstrainedMinimizationProblem: what to minimize, and what must not be above zero."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.printed import printed


class ConstrainedMinimizationProblem(ABC):
    """An objective to minimize, and constraints that must not be above zero. A program makes a subclass.

    >>> class Near(tf.contrib.constrained_optimization.ConstrainedMinimizationProblem):
    ...     def __init__(self, x):
    ...         self._x = x
    ...     @property
    ...     def objective(self):
    ...         return (self._x - 3.0) ** 2
    ...     @property
    ...     def constraints(self):
    ...         return tf.stack([self._x - 1.0])
    """

    __repr__ = printed("tf.contrib.constrained_optimization")

    @property
    @abstractmethod
    def objective(self) -> Tensor:
        """What is minimized, a scalar of floats."""

    @property
    @abstractmethod
    def constraints(self) -> Tensor:
        """What must not be above zero, in a tensor of a known shape."""

    @property
    def proxy_constraints(self) -> Tensor | None:
        """What is differentiated in the constraints' place, in their shape; the constraints themselves when None.

        Such as a smooth bound of counts, which have no gradient.
        """
        return None

    @property
    def pre_train_ops(self) -> Sequence[Operation | Tensor] | None:
        """What runs before each step."""
        return None

    @property
    def num_constraints(self) -> int:
        """How many constraints there are.

        Raises:
            ValueError: a shape is not known, or the proxies have another one than the constraints.
        """
        shapes = [each.shape for each in (self.constraints, self.proxy_constraints) if each is not None]
        counts = [shape.num_elements() for shape in shapes]
        if counts[0] is None or counts[-1] is None:
            told = " and ".join(map(str, shapes))
            raise ValueError(
                f"constraints and proxy_constraints must have fully-known shapes, found {told}: set_shape tells it"
            )
        if shapes[0].as_list() != shapes[-1].as_list():
            raise ValueError(f"constraints and proxy_constraints must have the same shape, found {shapes[0]} and {shapes[-1]}")
        return counts[0]
