"""enable_mixed_precision_graph_rewrite: the optimizer that programs ask for that want float16 where it is safe."""

from __future__ import annotations

from weft.platform.logs import tf_logging
from weft.training.loss_scaling.loss_scale import LossScale
from weft.training.loss_scaling.optimizers import MixedPrecisionLossScaleOptimizer
from weft.training.optimizers.optimizer import Optimizer


def enable_mixed_precision_graph_rewrite(
    opt: Optimizer, loss_scale: LossScale | float | str = "dynamic"
) -> MixedPrecisionLossScaleOptimizer:
    """The optimizer with a scale for its loss. The nodes of the graph keep the types that the program gave them.

    TensorFlow also rewrites graphs, on GPUs only, to compute some nodes in float16; on CPUs it leaves them as they are, as weft
    does everywhere. A program that wants another type casts to it, for example to bfloat16.

    Args:
        opt: the optimizer.
        loss_scale: a LossScale, a number, or "dynamic".

    Raises:
        ValueError: `opt` is no optimizer, or has a scale already.
    """
    if isinstance(opt, MixedPrecisionLossScaleOptimizer):
        raise ValueError(
            '"opt" must not already be an instance of a MixedPrecisionLossScaleOptimizer. '
            "`enable_mixed_precision_graph_rewrite` will automatically wrap the optimizer with a "
            "MixedPrecisionLossScaleOptimizer."
        )
    if not isinstance(opt, Optimizer):
        raise ValueError(f'"opt" must be an instance of a tf.train.Optimizer, but got: {opt!r}')
    tf_logging.info("The loss is scaled; the graph's nodes keep their types, and none is computed in float16.")
    return MixedPrecisionLossScaleOptimizer(opt, loss_scale)


def disable_mixed_precision_graph_rewrite() -> None:
    """Nothing: no graph is rewritten."""
