"""MultiHead: several tasks on the logits of one model, each with a head of its own."""

from __future__ import annotations

from collections.abc import Sequence

from weft.estimators.aliases import MetricOps
from weft.estimators.canned.head import Head, SpecRequest, train_op_of
from weft.estimators.canned.heads_together import check_heads, logits_by_head, merged_loss, merged_outputs
from weft.estimators.canned.keys import MetricKeys
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.mode_keys import ModeKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.models.metrics.mean import mean
from weft.ops.control_flow.ordering import no_op
from weft.ops.summary.nodes import scalar


class MultiHead(Head):
    """Several tasks at once: the sum of the heads' losses is trained on.

    Metrics, which end in each head's name, stand side by side; predictions have pairs of a head's name and their own as keys,
    and the outputs of an exported model are `head`, `head/NAME`; the first head's is the default.

    Args:
        heads: the heads, each with a name.
        head_weights: what each head's loss is multiplied by; by 1 when None.

    Raises:
        ValueError: there are no heads, one has no name, or there are more or fewer weights.
    """

    def __init__(self, heads: Sequence[Head], head_weights: Sequence[float] | None = None) -> None:
        check_heads([each.name for each in heads or ()], heads, head_weights)
        super().__init__(name="_".join(str(each.name) for each in heads))
        self._heads, self._head_weights = tuple(heads), tuple(head_weights or ())

    @property
    def logits_dimension(self) -> int:
        """The sum of the heads' dimensions."""
        return sum(each.logits_dimension for each in self._heads)

    def spec_of(self, request: SpecRequest) -> EstimatorSpec:
        """The whole of a model from the logits of all heads, as it was asked for; ValueError when a head's part is missing."""
        mode, labels = request.mode, request.labels
        by_head = logits_by_head(request.logits, labels, self._by_name())
        specs = {
            name: head.create_estimator_spec(
                request.features, mode, by_head[name], labels[name] if labels else None, train_op_fn=_untrained
            )
            for name, head in self._by_name().items()
        }
        predictions = {(name, key): value for name, spec in specs.items() for key, value in spec.predictions.items()}
        if mode == ModeKeys.PREDICT:
            outputs = {name: spec.export_outputs or {} for name, spec in specs.items()}
            return EstimatorSpec(mode, predictions, export_outputs=merged_outputs(outputs))
        losses, penalties = [each.loss for each in specs.values()], request.regularization_losses
        if mode == ModeKeys.EVAL:
            with get_default_graph().name_scope("merge_eval"):
                metrics = _metrics(specs)
                loss = merged_loss(losses, self._head_weights, penalties)
            return EstimatorSpec(mode, predictions, loss, eval_metric_ops=metrics)
        loss = merged_loss(losses, self._head_weights, penalties)
        train_op = train_op_of(loss, request.optimizer, request.train_op_fn)
        with get_default_graph().name_scope(""):
            scalar(MetricKeys.LOSS, loss)
        return EstimatorSpec(mode, predictions, loss, train_op)

    def _by_name(self) -> dict[str, Head]:
        return {str(each.name): each for each in self._heads}


def _untrained(loss: Tensor) -> Operation:
    """The heads themselves do not train."""
    return no_op()


def _metrics(specs: dict[str, EstimatorSpec]) -> MetricOps:
    """The heads' metrics, whose keys have their names already, and the loss of each."""
    found: MetricOps = {}
    for name, spec in specs.items():
        key = f"{MetricKeys.LOSS}/{name}"
        found[key] = mean(spec.loss, name=key)
        found.update(spec.eval_metric_ops)
    return found
