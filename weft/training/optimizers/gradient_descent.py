"""Plain gradient descent."""

from __future__ import annotations

from typing import Any

from weft.framework.building.aliases import NumberLike
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Tensor
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import mul, neg
from weft.ops.state.scatter_update import resource_scatter_add
from weft.ops.training.apply_descent import gradient_descent
from weft.ops.variables.variable import Variable
from weft.training.optimizers.optimizer import Optimizer, Update


class GradientDescentOptimizer(Optimizer):
    """`var -= learning_rate * gradient`.

    Args:
        learning_rate: a number, a tensor, or a function that returns one.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.

    >>> v = tf.Variable(1.0)
    >>> step = tf.train.GradientDescentOptimizer(0.25).minimize(tf.square(v))
    >>> sess.run(v.initializer)
    >>> sess.run(step)
    >>> sess.run(v)
    np.float32(0.5)
    """

    def __init__(self, learning_rate: NumberLike, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._learning_rate_tensor: Any = None

    def _prepare(self) -> None:
        self._learning_rate_tensor = self._hyperparameter(self._learning_rate, "learning_rate")

    def _update_for(self, var: Variable) -> Update:
        return Update(gradient_descent, scalars={"alpha": self._learning_rate_tensor}, gradient="delta")

    # Subtracting slices one by one is subtracting their sum.

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        rate = cast(self._learning_rate_tensor, var.dtype.base_dtype)
        delta = IndexedSlices(mul(grad.values, rate), grad.indices, grad.dense_shape)
        return var.scatter_sub(delta, use_locking=self._use_locking)

    def _resource_apply_sparse_duplicate_indices(self, grad: Tensor, handle: Any, indices: Tensor) -> Any:
        rate = self._learning_rate
        if callable(rate) or isinstance(rate, Tensor):
            rate = cast(self._learning_rate_tensor, grad.dtype.base_dtype)
        return resource_scatter_add(handle.handle, indices, neg(grad) * rate)
