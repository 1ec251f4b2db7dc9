"""Shampoo: Adagrad with a matrix for each dimension of a variable (Gupta, Koren and Singer, 2018)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from weft.framework.building.aliases import Nest, TensorLike, VariableLike
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import zeros, zeros_like
from weft.ops.array.gather_scatter import gather, scatter_nd
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.transposing import transpose
from weft.ops.control_flow.cond import cond
from weft.ops.linalg.decompositions import svd
from weft.ops.linalg.matrix_parts import eye
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater, less, maximum
from weft.ops.math.contraction import tensordot
from weft.ops.math.division import floor_mod, power
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.variables.assign import assign, assign_add, assign_sub
from weft.training.contributed.matrix_roots import inverse_root, square_root
from weft.training.optimizers.optimizer import Optimizer

Scheduled = float | Callable[[Tensor], TensorLike]
"""A number, or a function of the step, which counts from 1, that gives it."""


class ShampooOptimizer(Optimizer):
    """Adagrad with a preconditioner for each dimension of a variable, after Gupta, Koren and Singer (2018).

    For dimension `j` of a variable, of `n` in all, it keeps `G_j`, the sum of the gradients' products with themselves over all
    other dimensions, and multiplies the gradient along `j` by `(G_j / size_j) ** (-alpha / n)`. Of a dimension that is greater
    than `max_matrix_size` only the diagonal is kept.

    Args:
        global_step: the variable that counts the steps, or a number.
        max_matrix_size: the greatest dimension that gets a whole matrix.
        gbar_decay, gbar_weight: the running sum of gradients that is preconditioned is
            `gbar_decay * sum + gbar_weight * gradient`; the gradient itself when the decay is 0.
        mat_gbar_decay, mat_gbar_weight: the same for `G_j`.
        learning_rate: the factor of a step.
        svd_interval: the steps between two computations of the powers.
        precond_update_interval: the steps between two updates of `G_j`.
        epsilon: added to the diagonals of `G_j`.
        alpha: the power of all preconditioners together.
        use_iterative_root: whether powers are computed by matrix products alone, without a singular value decomposition;
            `rank / alpha` must be an even whole number then.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.

    All numbers but `max_matrix_size` and `epsilon` may be functions of the step.

    Raises:
        ValueError: when gradients are applied, a variable is a scalar, or has a dimension that is not known.
    """

    def __init__(
        self, global_step: TensorLike = 0, max_matrix_size: int = 768, gbar_decay: Scheduled = 0.0,
        gbar_weight: Scheduled = 1.0, mat_gbar_decay: Scheduled = 1.0, mat_gbar_weight: Scheduled = 1.0,
        learning_rate: Scheduled = 1.0, svd_interval: Scheduled = 1, precond_update_interval: Scheduled = 1,
        epsilon: float = 1e-4, alpha: Scheduled = 0.5,
        use_iterative_root: bool = False, use_locking: bool = False, name: str = "Shampoo",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._global_step = cast(global_step, dtypes.float32)
        self._max_matrix_size = max_matrix_size
        self._gbar: Final = gbar_decay, gbar_weight
        self._mat_gbar: Final = mat_gbar_decay, mat_gbar_weight
        self._learning_rate = learning_rate
        self._svd_interval = svd_interval
        self._precond_update_interval = precond_update_interval
        self._epsilon = epsilon
        self._alpha = alpha
        self._use_iterative_root = use_iterative_root

    def _create_slots(self, var_list: Sequence[VariableLike]) -> None:
        for var in var_list:
            self._zeros_slot(var, "gbar", self._name)
            dtype = var.dtype.base_dtype
            for number, size in enumerate(_sizes(var)):
                if size > self._max_matrix_size:
                    self._get_or_make_slot(var, zeros([size], dtype), f"Gbar_{number}", self._name)
                    continue
                if self._keeps_powers:
                    self._get_or_make_slot(var, eye(size, dtype=dtype), f"H_{number}", self._name)
                self._get_or_make_slot(var, zeros([size, size], dtype), f"Gbar_{number}", self._name)

    @property
    def _keeps_powers(self) -> bool:
        return callable(self._svd_interval) or self._svd_interval > 1

    def _now(self, value: Scheduled, dtype: dtypes.DType = dtypes.float32) -> Nest:
        return cast(value(self._global_step + 1), dtype) if callable(value) else value

    # One way for references and resources: all updates are by the variables' own methods.

    def _apply_dense(self, grad: Tensor, var: VariableLike) -> Tensor:
        return self._apply_gradient(grad, var, None)

    def _resource_apply_dense(self, grad: Tensor, handle: VariableLike) -> Tensor:
        return self._apply_gradient(grad, handle, None)

    def _apply_sparse(self, grad: IndexedSlices, var: VariableLike) -> Tensor:
        return self._apply_rows(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Tensor, handle: VariableLike, indices: Tensor) -> Tensor:
        return self._apply_rows(grad, handle, indices)

    def _apply_rows(self, grad: Tensor, var: VariableLike, indices: Tensor) -> Tensor:
        if _sizes(var)[0] <= self._max_matrix_size or self._gbar[0] != 0.0:
            shape = cast(_sizes(var), indices.dtype)
            return self._apply_gradient(scatter_nd(expand_dims(indices, 1), grad, shape), var, None)
        return self._apply_gradient(grad, var, indices)

    def _apply_gradient(self, grad: Tensor, var: VariableLike, indices: Tensor | None) -> Tensor:
        """Precondition a dimension after the other; each goes to the end, so after the last all are in their order again."""
        dtype = var.dtype.base_dtype
        decay, weight = self._gbar
        gradient = grad
        if indices is None:
            gradient = _averaged(self.get_slot(var, "gbar"), decay, self._now(decay, dtype), self._now(weight, dtype) * grad)
        for number, size in enumerate(_sizes(var)):
            if size <= self._max_matrix_size:
                gradient = tensordot(gradient, self._matrix_power(grad, var, number), axes=([0], [0]))
            else:
                rows = indices if number == 0 else None
                factor = self._diagonal_power(grad, var, number, rows, is_sparse=indices is not None)
                gradient = transpose(gradient, [*range(1, len(_sizes(var))), 0]) * factor
        step = self._now(self._learning_rate, dtype) * gradient
        if indices is None:
            return assign_sub(var, step)
        return var.scatter_sub(IndexedSlices(step, indices), use_locking=self._use_locking)  # type: ignore[no-any-return]

    def _is_time(self, interval: Scheduled) -> Tensor:
        return less(floor_mod(self._global_step + 1, cast(self._now(interval), dtypes.float32)), 1.0)

    def _exponent(self, var: VariableLike) -> Nest:
        return -self._now(self._alpha, var.dtype.base_dtype) / len(_sizes(var))

    def _matrix_power(self, grad: Tensor, var: VariableLike, number: int) -> Nest:
        """`G_j` with this step's gradient, to its power: [size, size]."""
        dtype = var.dtype.base_dtype
        matrix, size = self.get_slot(var, f"Gbar_{number}"), _sizes(var)[number]
        decay, weight = self._mat_gbar
        others = [axis for axis in range(len(_sizes(var))) if axis != number]

        def updated() -> Tensor:
            interval = cast(self._now(self._precond_update_interval), dtype)
            outer = self._now(weight, dtype) * interval * tensordot(grad, grad, axes=(others, others))
            return _averaged(matrix, decay, self._now(decay, dtype), outer)

        every = self._precond_update_interval
        current = updated() if every == 1 else cond(self._is_time(every), updated, matrix.read_value)
        mean = current / float(size)
        if not self._keeps_powers:
            return self._power(mean, size, self._exponent(var))
        kept = self.get_slot(var, f"H_{number}")
        made = cond(
            self._is_time(self._svd_interval),
            lambda: assign(kept, self._power(mean, size, self._exponent(var))),
            kept.read_value,
        )
        return made

    def _power(self, matrix: Tensor, size: int, exponent: Nest) -> Tensor:
        if self._use_iterative_root:
            return inverse_root(square_root(matrix, size, 100, self._epsilon), size, 2 * exponent, ridge_epsilon=0.0)
        if size == 1:
            return power(matrix + self._epsilon, exponent)
        values, u, v = svd(matrix + self._epsilon * eye(size, dtype=matrix.dtype), full_matrices=True)
        return matmul(v * power(maximum(values, self._epsilon), exponent), u, transpose_b=True)

    def _diagonal_power(self, grad: Tensor, var: VariableLike, number: int, rows: Tensor | None, *, is_sparse: bool) -> Tensor:
        """The diagonal of `G_j`, of the rows that are named alone where `rows` are, to its power: a vector."""
        dtype = var.dtype.base_dtype
        diagonal, sizes = self.get_slot(var, f"Gbar_{number}"), _sizes(var)
        decay, weight = self._mat_gbar
        others = [axis for axis in range(len(sizes)) if axis != number]
        squares = grad * grad
        if others:
            squares = reduce_sum(squares, axis=others) / (1.0 if is_sparse else float(sizes[number]))
        added = self._now(weight, dtype) * squares
        if rows is None:
            current = _averaged(diagonal, decay, self._now(decay, dtype), added)
        elif decay != 1.0:
            raise ValueError(
                f"Shampoo: rows of {var.name!r} alone are updated by a sparse gradient, which wants mat_gbar_decay=1.0, got "
                f"{decay!r}; a max_matrix_size of {sizes[0]} or more makes the gradient dense"
            )
        else:
            current = gather(diagonal.scatter_add(IndexedSlices(added, rows)), rows)
        return where(greater(current, 0.0), power(current, self._exponent(var)), zeros_like(current))


def _averaged(slot: VariableLike, decay: Scheduled, decay_now: Nest, added: Tensor) -> Tensor:
    """`decay * slot + added`, which the slot keeps unless nothing of it would be seen again."""
    if decay == 0.0:
        return added
    if decay == 1.0:
        return assign_add(slot, added)
    return assign_add(slot, (decay_now - 1) * slot.read_value() + added)


def _sizes(var: VariableLike) -> list[int]:
    sizes = var.shape.as_list() if var.shape.ndims else []
    if not sizes or None in sizes:
        raise ValueError(
            f"Shampoo has a matrix for each dimension of a variable: {var.name!r} must have a rank of at least 1 and known "
            f"dimensions, but its shape is {var.shape}; train it by another optimizer"
        )
    return sizes
