"""LossScaleOptimizer: an optimizer of tf.keras whose loss is multiplied by a scale on the way to the gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from weft.framework.building.aliases import Nest, TensorLike, VariableLike
from weft.framework.context import replication
from weft.framework.nodes.operation import Operation, Tensor
from weft.networks.optimizers.clipping import CLIPS
from weft.networks.optimizers.optimizer import Optimizer
from weft.networks.state.graph_state import track_variable
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group, no_op
from weft.training.loss_scaling.loss_scale import LossScale, loss_scale_of
from weft.training.loss_scaling.optimizers import scaled_loss, unscaled


class LossScaleOptimizer(Optimizer):
    """Another optimizer with a scale for its loss, which keeps gradients in float16 from becoming zero.

    Hyperparameters, slots and the count of steps are those of the other optimizer. With a dynamic scale a step whose
    gradients are not finite changes the scale alone.

    Args:
        opt: an optimizer of tf.keras that clips no gradients: it would clip the scaled ones.
        loss_scale: a LossScale, a number of at least 1, or "dynamic".

    Raises:
        ValueError: `opt` is no such optimizer, or `loss_scale` is nothing of these.

    >>> optimizer = tf.keras.mixed_precision.experimental.LossScaleOptimizer(tf.keras.optimizers.SGD(0.1), "dynamic")
    >>> optimizer.loss_scale.initial_loss_scale
    32768.0
    """

    def __init__(self, opt: Optimizer, loss_scale: LossScale | float | str) -> None:
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of OptimizerV2, but got: {opt}')
        for clip in CLIPS:
            limit = getattr(opt, clip, None)
            if limit is not None:
                raise ValueError(
                    f"LossScaleOptimizer does not support wrapping optimizers with a {clip}. Optimizer {opt} has {clip} {limit}"
                )
        super().__init__(type(opt).__name__)
        self._optimizer = opt
        self._loss_scale = loss_scale_of(loss_scale)
        object.__setattr__(self, "hypers", opt.hypers)
        self.slots = opt.slots
        for each in self._loss_scale.variables():
            track_variable(each)
            self.slots.keep(each)

    @property
    def loss_scale(self) -> LossScale:
        """The scale."""
        return self._loss_scale

    @property
    def iterations(self) -> VariableLike:
        """The variable that counts the steps that changed the variables."""
        return self._optimizer.iterations

    @iterations.setter
    def iterations(self, variable: VariableLike) -> None:
        self._optimizer.iterations = variable

    def get_scaled_loss(self, loss: Nest) -> Nest:
        """The loss times the scale; of a function that makes a loss a function.

        Args:
            loss: a tensor, or a function that makes one.
        """
        return scaled_loss(loss, self._loss_scale())

    def get_unscaled_gradients(self, grads: Sequence[Nest]) -> list[Nest]:
        """Gradients of the scaled loss divided by the scale.

        Args:
            grads: tensors, IndexedSlices or None.

        Returns:
            The gradients of the loss, in the same order; None stays None.
        """
        return unscaled(list(grads), self._loss_scale())

    def get_gradients(self, loss: Tensor, params: Sequence[VariableLike]) -> list[Nest]:
        """The gradients of a loss, computed of the scaled one; ValueError when it does not depend on a variable.

        Args:
            loss: [] tensor.
            params: the variables.
        """
        return self.get_unscaled_gradients(self._optimizer.get_gradients(self.get_scaled_loss(loss), params))

    def _compute_gradients(
        self, loss: Nest, var_list: Nest, grad_loss: TensorLike | None = None
    ) -> list[tuple[Nest, VariableLike]]:
        pairs = self._optimizer._compute_gradients(self.get_scaled_loss(loss), var_list, grad_loss)
        grads = self.get_unscaled_gradients([grad for grad, _ in pairs])
        return list(zip(grads, [var for _, var in pairs], strict=True))

    def _apply(self, pairs: Sequence[tuple[Nest, VariableLike]], name: str | None) -> Operation:
        mode = replication.current()
        if mode is not None and mode.replica is not None and self._loss_scale.variables():
            raise NotImplementedError(
                "LossScaleOptimizer: replicas of a strategy cannot share a dynamic loss scale; give the scale as a number"
            )
        changed, applies = self._loss_scale.update([grad for grad, _ in pairs])
        inner = self._optimizer
        if isinstance(applies, bool):
            return group(inner._apply(pairs, name) if applies else no_op(), changed)
        # The variables of a branch are made before it.
        inner.make_variables([var for _, var in pairs])
        return group(cond(applies, lambda: group(inner._apply(pairs, name)), no_op), changed)

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """What checkpoints of objects save: the other optimizer and the scale."""
        return [("base_optimizer", self._optimizer), ("loss_scale", self._loss_scale)]

    def get_config(self) -> NoReturn:
        """Refuse, as TensorFlow does: the file of a model holds no scale."""
        raise NotImplementedError(
            "get_config() is not yet implemented for LossScaleOptimizers: save the model's weights, or the model with "
            "include_optimizer=False, and compile it again"
        )
