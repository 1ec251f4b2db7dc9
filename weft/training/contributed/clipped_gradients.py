"""clip_gradients_by_norm: an optimizer that brings the gradients' norm to a limit before another one takes them."""

from __future__ import annotations

from weft.framework.building.aliases import Nest, TensorLike, VariableLike
from weft.framework.nodes.operation import Operation
from weft.ops.math.clip import clip_by_global_norm
from weft.training.contributed.pairs import PairList
from weft.training.optimizers.optimizer import Optimizer


class ClippedGradients(Optimizer):
    """Another optimizer, given gradients whose global norm is at most a limit."""

    def __init__(self, opt: Optimizer, clip_norm: TensorLike) -> None:
        super().__init__(False, f"ClipByNorm{opt.get_name()}")
        self._opt = opt
        self._clip_norm = clip_norm

    def compute_gradients(self, *args: Nest, **kwargs: Nest) -> PairList:
        """Those of the other optimizer."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars: Nest, global_step: VariableLike = None, name: str | None = None) -> Operation:
        """The update of the other optimizer with clipped gradients."""
        pairs = list(grads_and_vars)
        clipped, _ = clip_by_global_norm([gradient for gradient, _ in pairs], self._clip_norm)
        targets = [variable for _, variable in pairs]
        return self._opt.apply_gradients(list(zip(clipped, targets, strict=True)), global_step, name)

    def get_slot(self, *args: Nest, **kwargs: Nest) -> Nest:
        """That of the other optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Nest, **kwargs: Nest) -> list[str]:
        """Those of the other optimizer."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[VariableLike]:
        """Those of the other optimizer."""
        return self._opt.variables()


def clip_gradients_by_norm(optimizer: Optimizer, clip_norm: TensorLike) -> Optimizer:
    """An optimizer that clips gradients so that their global norm is at most `clip_norm`, and gives them to another one.

    Args:
        optimizer: the optimizer that applies the clipped gradients.
        clip_norm: [] float, the greatest global norm.
    """
    return ClippedGradients(optimizer, clip_norm)
