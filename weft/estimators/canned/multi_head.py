"""MultiHead: several tasks on the logits of one model, each with a head of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from weft.estimators.aliases import Features, Labels, MetricOps
from weft.estimators.canned.head import Head, train_op_of
from weft.estimators.canned.keys import MetricKeys
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.export.export_output import ExportOutput, PredictOutput
from weft.estimators.mode_keys import ModeKeys
from weft.framework.aliases import Nest
from weft.framework.graph import get_default_graph
from weft.framework.operation import Operation, Tensor
from weft.framework.tensor_conversion import convert_to_tensor
from weft.models.metrics.mean import mean
from weft.ops.control_flow.ordering import no_op
from weft.ops.math.elementwise import add_n, mul
from weft.ops.summary.nodes import scalar
from weft.training.optimizers.optimizer import Optimizer
from weft.training.saved_model import layout

_Value = TypeVar("_Value")
_PREDICT = "predict"


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
        if head_weights and len(head_weights) != len(heads):
            raise ValueError(
                f"heads and head_weights must have the same size. Given len(heads): {len(heads)}. "
                f"Given len(head_weights): {len(head_weights)}."
            )
        if not heads:
            raise ValueError(f"Must specify heads. Given: {heads}")
        for each in heads:
            if not each.name:
                raise ValueError(f"All given heads must have name specified. Given: {each}")
        super().__init__(name="_".join(str(each.name) for each in heads))
        self._heads, self._head_weights = tuple(heads), tuple(head_weights or ())

    @property
    def logits_dimension(self) -> int:
        """The sum of the heads' dimensions."""
        return sum(each.logits_dimension for each in self._heads)

    def create_estimator_spec(
        self,
        features: Features,
        mode: str,
        logits: Nest,
        labels: Labels = None,
        optimizer: Optimizer | None = None,
        train_op_fn: Callable[[Tensor], Nest] | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> EstimatorSpec:
        """The whole of a model from the logits of all heads.

        Args:
            features: by name; the weights are among them.
            mode: one of ModeKeys.
            logits: by the heads' names, or `[..., logits_dimension]`, the heads' one behind the other.
            labels: by the heads' names; needed to train and to evaluate.
            optimizer: makes the loss smaller; needed to train.
            train_op_fn: makes the training operation from the loss, instead.
            regularization_losses: are added to the loss.

        Raises:
            ValueError: labels or logits are not by name or have a wrong shape, or there is no optimizer, or two.
        """
        if labels and not isinstance(labels, dict):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        by_head = logits if isinstance(logits, dict) else self._split(logits)
        specs = {
            name: head.create_estimator_spec(
                features, mode, _of(by_head, name, "logits"), _of(labels, name, "labels") if labels else None,
                train_op_fn=_untrained,
            )
            for name, head in self._by_name().items()
        }  # fmt: skip
        predictions = {(name, key): value for name, spec in specs.items() for key, value in spec.predictions.items()}
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions, export_outputs=_exported(specs))
        if mode == ModeKeys.EVAL:
            with get_default_graph().name_scope("merge_eval"):
                metrics = _metrics(specs)
                loss = self._merged([each.loss for each in specs.values()], regularization_losses)
            return EstimatorSpec(mode, predictions, loss, eval_metric_ops=metrics)
        loss = self._merged([each.loss for each in specs.values()], regularization_losses)
        train_op = train_op_of(loss, optimizer, train_op_fn)
        with get_default_graph().name_scope(""):
            scalar(MetricKeys.LOSS, loss)
        return EstimatorSpec(mode, predictions, loss, train_op)

    def _by_name(self) -> dict[str, Head]:
        return {str(each.name): each for each in self._heads}

    def _merged(self, losses: Sequence[Tensor], penalties: Sequence[Tensor] | None) -> Tensor:
        with get_default_graph().name_scope("merge_losses"):
            if self._head_weights:
                losses = [mul(loss, weight) for loss, weight in zip(losses, self._head_weights, strict=True)]
            return add_n([*losses, *(penalties or ())])

    def _split(self, logits: Nest) -> dict[str, Tensor]:
        with get_default_graph().name_scope("split_logits"):
            logits = convert_to_tensor(logits)
            sizes = [each.logits_dimension for each in self._heads]
            dims = logits.dims
            if dims and dims[-1] not in (None, sum(sizes)):
                raise ValueError(
                    f"Could not split logits of shape {list(dims)} among the heads with individual logits dimensions: {sizes}. "
                    f"The last dimension of the logits tensor should equal {sum(sizes)} but is {dims[-1]}."
                )
            begins = [sum(sizes[:place]) for place in range(len(sizes))]
            names = self._by_name()
            return {name: logits[..., begin : begin + size] for name, begin, size in zip(names, begins, sizes, strict=True)}


def _untrained(loss: Tensor) -> Operation:
    """The heads themselves do not train."""
    return no_op()


def _of(values: dict[str, _Value], name: str, what: str) -> _Value:
    if name not in values:
        raise ValueError(f"{what} has missing values for head(s): [{name!r}]; there are {sorted(values)}")
    return values[name]


def _metrics(specs: dict[str, EstimatorSpec]) -> MetricOps:
    """The heads' metrics, whose keys have their names already, and the loss of each."""
    found: MetricOps = {}
    for name, spec in specs.items():
        key = f"{MetricKeys.LOSS}/{name}"
        found[key] = mean(spec.loss, name=key)
        found.update(spec.eval_metric_ops)
    return found


def _exported(specs: dict[str, EstimatorSpec]) -> dict[str, ExportOutput]:
    default = layout.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    exported = {name: spec.export_outputs or {} for name, spec in specs.items()}
    outputs: dict[str, ExportOutput] = {default: next(iter(exported.values()))[default]}
    predictions = {}
    for name, of_head in exported.items():
        for key, output in of_head.items():
            outputs[name if key == default else f"{name}/{key}"] = output
            if key == _PREDICT and isinstance(output, PredictOutput):
                predictions.update({f"{name}/{each}": value for each, value in output.outputs.items()})
    outputs[_PREDICT] = PredictOutput(predictions)
    return outputs
