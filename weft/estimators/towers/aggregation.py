"""One EstimatorSpec of those of all towers."""

from __future__ import annotations

from collections.abc import Sequence

from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.export.export_output import ClassificationOutput, ExportOutput, PredictOutput, RegressionOutput
from weft.framework.building.aliases import Nest
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.models.losses import Reduction
from weft.ops.array.joining import concat
from weft.ops.array.stacking import stack
from weft.ops.control_flow.ordering import group
from weft.ops.math.elementwise import add_n
from weft.ops.math.reduce_functions import reduce_mean


def trained(specs: Sequence[EstimatorSpec], loss_reduction: str) -> EstimatorSpec:
    """The training of all towers: their loss, and the update that the last one applies."""
    return specs[0]._replace(loss=_loss(specs, loss_reduction), train_op=group(*(each.train_op for each in specs)))


def evaluated(specs: Sequence[EstimatorSpec], loss_reduction: str) -> EstimatorSpec:
    """The evaluation of all towers: the mean of each metric over them."""
    metrics = {name: _metric([each.eval_metric_ops[name] for each in specs]) for name in specs[0].eval_metric_ops}
    # The predictions of the first tower alone would be those of a part of the batch.
    return specs[0]._replace(loss=_loss(specs, loss_reduction), eval_metric_ops=metrics, predictions=None)


def predicted(specs: Sequence[EstimatorSpec]) -> EstimatorSpec:
    """The predictions of all towers, one after the other."""
    outputs = specs[0].export_outputs
    return specs[0]._replace(
        predictions=nest.map_structure(_joined, *(each.predictions for each in specs)),
        export_outputs={
            name: _joined_output([(each.export_outputs or {})[name] for each in specs]) for name in outputs or {}
        } or None,
    )  # fmt: skip


def _loss(specs: Sequence[EstimatorSpec], loss_reduction: str) -> Tensor:
    total: Tensor = add_n([each.loss for each in specs])
    return total if loss_reduction == Reduction.SUM else total / len(specs)


def _metric(pairs: Sequence[tuple[Tensor, Nest]]) -> tuple[Tensor, Nest]:
    value = reduce_mean(stack([each for each, _ in pairs]), 0)
    return value, group(*(update for _, pair in pairs for update in nest.flatten(pair)))


def _joined(*tensors: Tensor) -> Tensor:
    return concat(tensors, 0)


def _joined_or_none(*tensors: Tensor | None) -> Tensor | None:
    given = [each for each in tensors if each is not None]
    return concat(given, 0) if given else None


def _joined_output(outputs: Sequence[ExportOutput]) -> ExportOutput:
    first = outputs[0]
    if isinstance(first, ClassificationOutput):
        same = [each for each in outputs if isinstance(each, ClassificationOutput)]
        return ClassificationOutput(
            _joined_or_none(*(each.scores for each in same)), _joined_or_none(*(each.classes for each in same))
        )
    if isinstance(first, RegressionOutput):
        return RegressionOutput(_joined(*(each.value for each in outputs if isinstance(each, RegressionOutput))))
    if isinstance(first, PredictOutput):
        tables = [each.outputs for each in outputs if isinstance(each, PredictOutput)]
        return PredictOutput({name: _joined(*(each[name] for each in tables)) for name in first.outputs})
    raise ValueError(f"replicate_model_fn cannot join the towers' outputs of the type {type(first).__name__}.")
