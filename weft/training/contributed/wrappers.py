"""Optimizers that change what another one is given, or what it has done."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence

from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros
from weft.ops.array.gather_scatter import gather
from weft.ops.array.identity import identity
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group, no_op
from weft.ops.math.casting import cast
from weft.ops.math.clip import clip_by_global_norm, clip_by_norm
from weft.ops.math.comparison import equal, less_equal
from weft.ops.math.norms import global_norm
from weft.ops.math.reduce_functions import count_nonzero
from weft.ops.summary.nodes import scalar
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.matrix_initializers import zeros_initializer
from weft.ops.variables.variable import Variable
from weft.platform.logs import tf_logging
from weft.training.contributed.pairs import PairList, Pairs
from weft.training.optimizers.optimizer import Optimizer
from weft.training.training_util import get_global_step


class VariableClippingOptimizer(Optimizer):
    """Brings the norms of variables back to a limit after each update of another optimizer.

    Args:
        opt: the other optimizer.
        vars_to_clip_dims: for each variable to clip the dimensions over which its norms are taken.
        max_norm: the limit.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.
        colocate_clip_ops_with_vars: whether the clipping is computed where the variables are.
    """

    def __init__(
        self, opt: Optimizer, vars_to_clip_dims: Mapping[VariableLike, Sequence[int]], max_norm: float,
        use_locking: bool = False,
        colocate_clip_ops_with_vars: bool = False, name: str = "VariableClipping",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        self._opt = opt
        self._vars_to_clip_dims = {_name_of(var): list(dims) for var, dims in vars_to_clip_dims.items()}
        self._max_norm = max_norm
        self._colocates = colocate_clip_ops_with_vars

    def compute_gradients(self, *args: Nest, **kwargs: Nest) -> PairList:
        """Those of the other optimizer.

        Args:
            args, kwargs: those of the other optimizer's `compute_gradients`.
        """
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, *args: Nest, **kwargs: Nest) -> Nest:
        """That of the other optimizer.

        Args:
            args, kwargs: those of the other optimizer's `get_slot`.
        """
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Nest, **kwargs: Nest) -> list[str]:
        """Those of the other optimizer.

        Args:
            args, kwargs: those of the other optimizer's `get_slot_names`.
        """
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Pairs, global_step: Variable | None = None, name: str | None = None) -> Operation:
        """The updates, with the global step, and after them the clipping."""
        graph = get_default_graph()
        pairs = list(grads_and_vars)
        with graph.name_scope(self._name) as scope:
            updated = self._opt.apply_gradients(pairs, global_step=global_step)
            clipped = []
            with graph.control_dependencies([updated]):
                for gradient, var in pairs:
                    if gradient is not None and _name_of(var) in self._vars_to_clip_dims:
                        clipped.append(self._clipped(gradient, var))
            return group(*clipped, updated, name=scope)

    def _clipped(self, gradient: object, var: VariableLike) -> Nest:
        dims = self._vars_to_clip_dims[_name_of(var)]
        indices = gradient.indices if isinstance(gradient, IndexedSlices) else None
        if indices is not None and 0 in dims:
            tf_logging.warning(
                "Clipping norm across dims %s for %s is inefficient when including sparse dimension 0.", dims, var.op.name
            )
            indices = None
        with get_default_graph().colocate_with(var) if self._colocates else contextlib.nullcontext():
            value = var.read_value() if indices is None else gather(var.read_value(), indices)
            excess = value - clip_by_norm(value, self._max_norm, dims)
        if indices is None:
            return var.assign_sub(excess, use_locking=self._use_locking)
        return var.scatter_sub(IndexedSlices(excess, indices), use_locking=self._use_locking)


class DropStaleGradientOptimizer(Optimizer):
    """Gives another optimizer only gradients that are not older than so many steps; others count as stale.

    Args:
        opt: the other optimizer.
        staleness: the most steps that others may have made since the loss was computed.
        use_locking: recorded in the update ops; updates are always whole.
        name: the name of the operations made, and of slots.
    """

    def __init__(self, opt: Optimizer, staleness: int, use_locking: bool = False, name: str = "DropStaleGradient") -> None:
        super().__init__(use_locking, name)
        self._opt = opt
        self._staleness = staleness
        self._local_step: VariableLike = None

    def compute_gradients(self, loss: Tensor, *args: Nest, **kwargs: Nest) -> PairList:
        """Those of the other optimizer, of a loss before which the global step is read.

        Args:
            args, kwargs: the further ones of the other optimizer's `compute_gradients`.
        """
        graph = get_default_graph()
        step: VariableLike = get_global_step()
        with graph.colocate_with(loss):
            self._local_step = _now(step) + 0
        with graph.control_dependencies([self._local_step]):
            return self._opt.compute_gradients(identity(loss), *args, **kwargs)

    def get_slot(self, *args: Nest, **kwargs: Nest) -> Nest:
        """That of the other optimizer.

        Args:
            args, kwargs: those of the other optimizer's `get_slot`.
        """
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Nest, **kwargs: Nest) -> list[str]:
        """Those of the other optimizer.

        Args:
            args, kwargs: those of the other optimizer's `get_slot_names`.
        """
        return self._opt.get_slot_names(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Pairs, global_step: VariableLike = None, name: str | None = None) -> Nest:
        """The updates where the gradients are fresh; the result is the number of stale ones so far."""
        graph = get_default_graph()
        pairs = list(grads_and_vars)
        with graph.colocate_with(global_step):
            stale = get_variable("stale_counter", [], initializer=zeros_initializer(), trainable=False)
        ready = [each.op for each, _ in pairs if each is not None]

        def accept() -> Tensor:
            applied = self._opt.apply_gradients(pairs, global_step=global_step, name=name)
            with get_default_graph().control_dependencies([applied]):
                return identity(constant(0.0))

        with graph.control_dependencies(ready), graph.colocate_with(global_step):
            age = _now(global_step) - self._local_step
        counted = stale.assign_add(cond(less_equal(age, self._staleness), accept, lambda: identity(constant(1.0))))
        scalar("Gradient staleness percentage", stale / cast(global_step + 1, dtypes.float32))
        return counted


def _now(step: VariableLike) -> Tensor:
    """The step as it is when the node runs; one that is found by its name alone is a tensor of the variable."""
    return step.read_value() if isinstance(step, Variable) else identity(step)


class MultitaskOptimizerWrapper:
    """Lets an optimizer leave variables and slots alone in steps in which their gradient is all zeros.

    A loss that is missing in a batch has zeros as gradients; they say nothing about the averages that optimizers keep.

    Args:
        opt: an Optimizer, which is changed.

    Raises:
        TypeError: it is none.
    """

    __repr__ = printed("tf.contrib.opt")

    def __init__(self, opt: Optimizer) -> None:
        if not isinstance(opt, Optimizer):
            raise TypeError("Supplied optimizer must be an instance of tf.train.Optimizer")
        self._opt = opt
        for name in ("_apply_dense", "_resource_apply_dense", "_apply_sparse", "_resource_apply_sparse"):
            setattr(opt, name, _unless_zero(getattr(opt, name)))

    def __getattr__(self, name: str) -> Nest:
        return getattr(self._opt, name)


def _unless_zero(apply: Callable[..., Nest]) -> Callable[..., Nest]:
    def wrapper(grad: Nest, *args: Nest, **kwargs: Nest) -> Nest:
        def update() -> Nest:
            return group(apply(grad, *args, **kwargs))

        done: Nest = cond(_is_zero(grad), lambda: group(no_op()), update)
        return done.op

    return wrapper


def _is_zero(grad: Nest) -> Tensor:
    return equal(count_nonzero(grad.values if isinstance(grad, IndexedSlices) else grad), 0)


def clip_gradients_by_global_norm(gradients_variables: Pairs, clip_norm: float = 20.0) -> tuple[PairList, Tensor]:
    """Pairs with gradients clipped by their global norm, and that norm; gradients of zeros alone do not count.

    Args:
        gradients_variables: pairs of gradient (or None) and variable.
        clip_norm: the greatest norm.

    Returns:
        A list of pairs of clipped gradient (None where it was None) and variable, and the [] norm before the clipping.
    """
    grads, variables = zip(*gradients_variables, strict=True)

    def counted(grad: Nest) -> Nest:
        if grad is None:
            return None
        values = grad.values if isinstance(grad, IndexedSlices) else grad
        # A scalar of zero in the place of zeros of any shape: the norm is the same.
        return cond(_is_zero(grad), lambda: zeros([], values.dtype.base_dtype), lambda: identity(values))

    whole = global_norm([counted(grad) for grad in grads])
    clipped, _ = clip_by_global_norm(list(grads), clip_norm, use_norm=whole)
    return list(zip(clipped, variables, strict=True)), whole


def _name_of(variable: VariableLike) -> str:
    name: str = variable.op.name
    return name
