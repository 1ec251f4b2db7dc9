"""Optimizers that multiply the loss by a scale, and divide its gradients by it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from weft.framework.building.aliases import Nest, TensorLike, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group, no_op
from weft.ops.math.casting import cast
from weft.training.contributed.pairs import PairList, Pairs
from weft.training.loss_scaling.loss_scale import LossScale, all_finite, loss_scale_of
from weft.training.loss_scaling.managers import LossScaleManager
from weft.training.optimizers.optimizer import Optimizer

_Loss: TypeAlias = Tensor | Callable[[], Tensor]


def scaled_loss(loss: _Loss, scale: Tensor) -> Nest:
    """The loss times the scale; of a function that makes a loss a function.

    Args:
        loss: the loss, or a function that makes it.
        scale: a scalar.
    """
    if callable(loss):
        return lambda: _times(loss(), scale)
    return _times(loss, scale)


def _times(loss: Tensor, scale: Tensor) -> Tensor:
    return loss * cast(scale, loss.dtype.base_dtype)


def unscaled(grads: list[Nest], scale: Tensor) -> list[Nest]:
    """Gradients divided by the scale; None stays None.

    Args:
        grads: tensors, IndexedSlices or None.
        scale: a scalar.
    """
    factor = 1 / scale
    return [None if grad is None else _divided(grad, factor) for grad in grads]


def _divided(grad: Nest, factor: Tensor) -> Nest:
    if isinstance(grad, IndexedSlices):
        return IndexedSlices(grad.values * cast(factor, grad.values.dtype), grad.indices, grad.dense_shape)
    return grad * cast(factor, grad.dtype)


class ScalingOptimizer(Optimizer):
    """Another optimizer, whose loss is multiplied by a scale on the way to the gradients.

    Args:
        opt: the other optimizer.
        name: the name of the operations made.
    """

    def __init__(self, opt: Optimizer, name: str) -> None:
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        super().__init__(False, name)
        self._optimizer = opt

    def _present_scale(self) -> Tensor:
        raise NotImplementedError(type(self).__name__)

    def _after(self, grads: list[Nest]) -> tuple[Operation, Tensor | bool]:
        """What changes the scale, and whether the gradients are applied."""
        raise NotImplementedError(type(self).__name__)

    def compute_gradients(
        self, loss: _Loss, var_list: Nest = None, gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False, grad_loss: TensorLike | None = None,
    ) -> PairList:  # fmt: skip
        """Pairs of gradient and variable, those of the loss as it is.

        Args:
            loss: the loss, or a function that makes it.
            var_list: the variables; all trainable ones when None.
            gate_gradients: GATE_NONE, GATE_OP or GATE_GRAPH.
            aggregation_method: see AggregationMethod.
            colocate_gradients_with_ops: put gradients beside the ops that they differentiate.
            grad_loss: the gradient of the loss to start from, ones when None.
        """
        scale = self._present_scale()
        pairs = self._optimizer.compute_gradients(
            scaled_loss(loss, scale), var_list=var_list, gate_gradients=gate_gradients, aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss,
        )  # fmt: skip
        return list(zip(unscaled([grad for grad, _ in pairs], scale), [var for _, var in pairs], strict=True))

    def apply_gradients(self, grads_and_vars: Pairs, global_step: VariableLike = None, name: str | None = None) -> Operation:
        """The updates of the other optimizer where the gradients are to be applied, and the change of the scale.

        Args:
            grads_and_vars: pairs of gradient (or None) and variable.
            global_step: a variable to add one to after the updates.
            name: the operation's name.
        """
        pairs = list(grads_and_vars)
        changed, applies = self._after([grad for grad, _ in pairs])

        def apply() -> Operation:
            return group(self._optimizer.apply_gradients(pairs, global_step=global_step))

        if isinstance(applies, bool):
            return group(apply() if applies else no_op(), changed, name=name)
        done = cond(applies, apply, no_op)
        with get_default_graph().control_dependencies([applies]):
            return group(done, changed, name=name)


class MixedPrecisionLossScaleOptimizer(ScalingOptimizer):
    """Another optimizer with a scale for its loss; steps whose gradients are not finite leave the variables alone.

    Args:
        opt: the other optimizer.
        loss_scale: a LossScale, a number, or "dynamic".

    Raises:
        ValueError: `opt` is no optimizer, or `loss_scale` nothing of these.
    """

    def __init__(self, opt: Optimizer, loss_scale: LossScale | float | str) -> None:
        super().__init__(opt, opt.get_name() if isinstance(opt, Optimizer) else "LossScale")
        self._loss_scale = loss_scale_of(loss_scale)

    def _present_scale(self) -> Tensor:
        return self._loss_scale()

    def _after(self, grads: list[Nest]) -> tuple[Operation, Tensor | bool]:
        return self._loss_scale.update(grads)

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """What a checkpoint follows."""
        return [("_optimizer", self._optimizer), ("_loss_scale", self._loss_scale)]


class LossScaleOptimizer(ScalingOptimizer):
    """Another optimizer with a manager of its loss's scale; steps whose gradients are not finite leave the variables alone.

    Args:
        opt: the other optimizer.
        loss_scale_manager: tells the scale, and changes it.

    Raises:
        ValueError: `opt` is no optimizer, or the manager none.
    """

    def __init__(self, opt: Optimizer, loss_scale_manager: LossScaleManager) -> None:
        super().__init__(opt, opt.get_name() if isinstance(opt, Optimizer) else "LossScale")
        if not isinstance(loss_scale_manager, LossScaleManager):
            raise ValueError(f'"loss_scale_manager" must be an instance of LossScaleManager, but got: {loss_scale_manager!r}')
        self._manager = loss_scale_manager

    def _present_scale(self) -> Tensor:
        return self._manager.get_loss_scale()

    def _after(self, grads: list[Nest]) -> tuple[Operation, Tensor | bool]:
        finite = all_finite(grads)
        return self._manager.update_loss_scale(finite), finite
