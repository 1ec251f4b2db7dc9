"""GGT: full-matrix adaptive regularization by a window of past gradients (Agarwal and others, 2018)."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Nest, NumberLike, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import zeros
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import expand_dims, reshape
from weft.ops.array.transposing import transpose
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group
from weft.ops.linalg.decompositions import svd
from weft.ops.linalg.matrix_parts import eye
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater, minimum
from weft.ops.math.division import floor_mod, power
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_min
from weft.ops.math.unary import sqrt
from weft.ops.variables.assign import assign, assign_add, assign_sub
from weft.training.optimizers.optimizer import Optimizer


class GGTOptimizer(Optimizer):
    """Adagrad with the whole matrix of the last gradients of all variables together, at the cost of a small one.

    With `M` the last `window` first moments of the flattened gradient, one per column, a step goes along
    `(M M^T) ** -1/2` times the moment, found from the singular values of `M^T M`, which is [window, window].

    Args:
        learning_rate: a number, a tensor, or a function that returns it.
        beta1: the decay of the first moments.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made.
        window: the number of moments kept.
        eps: singular values whose roots are all greater let the step have a part outside of the kept moments too.
        svd_eps: added to the diagonal of `M^T M`.
        sigma_eps: added to the roots of the singular values.

    Raises:
        NotImplementedError: when gradients are applied, one is sparse.
    """

    def __init__(
        self, learning_rate: NumberLike = 0.001, beta1: object = 0.9, use_locking: bool = False, name: str = "GGT",
        window: int = 10, eps: float = 1e-4, svd_eps: float = 1e-6, sigma_eps: float = 1e-2,
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._beta1 = beta1
        self._window = window
        self._eps = eps
        self._svd_eps = svd_eps
        self._sigma_eps = sigma_eps
        # Where each variable's part of the flattened gradient begins, and its length.
        self._places: dict[str, tuple[int, int]] = {}
        self._updated: list[VariableLike] = []

    def _create_slots(self, var_list: Sequence[VariableLike]) -> None:
        begin = 0
        for var in sorted(var_list, key=lambda each: str(each.name)):
            count = var.shape.num_elements()
            if count is None:
                raise ValueError(f"GGT flattens all variables into one: {var.name!r} must have a known shape, got {var.shape}")
            self._places[var.name] = begin, count
            begin += count
        dtype, first = var_list[0].dtype.base_dtype, var_list[0]
        self._create_non_slot_variable(cast(0.0, dtype), "global_step", first)
        self._create_non_slot_variable(zeros([self._window, begin], dtype), "grad_buffer", first)
        self._create_non_slot_variable(zeros([begin], dtype), "moment1", first)
        self._create_non_slot_variable(zeros([begin], dtype), "flat_grad", first)

    def _prepare(self) -> None:
        self._updated = []

    def _own(self, name: str) -> VariableLike:
        return self._get_non_slot_variable(name, get_default_graph())

    def _apply_dense(self, grad: Tensor, var: VariableLike) -> Nest:
        self._updated.append(var)
        begin, count = self._places[var.name]
        part = IndexedSlices(reshape(grad, [-1]), range_of(begin, begin + count))
        return self._own("flat_grad").scatter_update(part)

    def _resource_apply_dense(self, grad: Tensor, handle: VariableLike) -> Nest:
        return self._apply_dense(grad, handle)

    def _apply_sparse(self, grad: IndexedSlices, var: VariableLike) -> Nest:
        raise NotImplementedError(
            f"Sparse gradient updates are not supported. GGT was given one of {var.name!r}: tf.convert_to_tensor makes it dense"
        )

    def _resource_apply_sparse(self, grad: Tensor, handle: VariableLike, indices: Tensor) -> Nest:
        return self._apply_sparse(IndexedSlices(grad, indices), handle)

    def _finish(self, update_ops: Sequence[Operation | Tensor], name_scope: str) -> Operation:
        with get_default_graph().control_dependencies(update_ops):
            step = self._step()
            dtype = step.dtype
            rate = cast(self._hyperparameter(self._learning_rate, "lr"), dtype)
            done = []
            for var in self._updated:
                begin, count = self._places[var.name]
                done.append(assign_sub(var, rate * reshape(step[begin : begin + count], var.shape)))
        return group(*done, name=name_scope)

    def _step(self) -> Tensor:
        """The direction of the step of all variables, [count, 1]; counts it, and takes the moment into the window."""
        moment1 = self._own("moment1")
        dtype = moment1.dtype.base_dtype
        count = assign_add(self._own("global_step"), 1.0)
        beta1 = cast(self._hyperparameter(self._beta1, "beta1"), dtype)
        moment = assign(moment1, beta1 * moment1 + (1.0 - beta1) * self._own("flat_grad").read_value())
        place = floor_mod(cast(count - 1.0, dtypes.int32), self._window)
        buffer = self._own("grad_buffer").scatter_update(IndexedSlices(moment, place))
        columns = transpose(buffer / sqrt(minimum(count, cast(self._window, dtype))))
        square = matmul(columns, columns, transpose_a=True)
        sigma, u, _ = svd(square + self._svd_eps * eye(self._window, dtype=dtype))
        roots = sqrt(sigma)
        least = reduce_min(roots)
        column = expand_dims(moment, -1)
        within = matmul(u, matmul(columns, column, transpose_a=True), transpose_a=True)

        def by(factors: Tensor) -> Tensor:
            """`M u diag(factors) u^T M^T` times the moment."""
            return matmul(columns, matmul(u, expand_dims(factors, -1) * within))

        head = by(1.0 / power(roots + self._sigma_eps, 3.0))
        made: Tensor = cond(greater(least, self._eps), lambda: head + (column - by(1.0 / sigma)) / least, lambda: head + 0.0)
        return made
