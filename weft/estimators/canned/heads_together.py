"""What several heads on one model's logits share: parts by the heads' names, one loss, and the outputs of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from weft.estimators.aliases import Labels
from weft.estimators.export.export_output import ExportOutput, PredictOutput
from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.ops.math.elementwise import add_n, mul
from weft.training.saved_model import layout

_PREDICT = "predict"


class HasLogits(Protocol):
    """A head, as far as the sharing out of logits must know it."""

    @property
    def logits_dimension(self) -> int:
        """The size of the logits' last dimension."""


def check_heads(names: Sequence[str | None], heads: Sequence[object], head_weights: Sequence[float] | None) -> None:
    """Raise ValueError unless there are heads, each has a name, and there are as many weights, if any."""
    if head_weights and len(head_weights) != len(names):
        raise ValueError(
            f"heads and head_weights must have the same size. Given len(heads): {len(names)}. "
            f"Given len(head_weights): {len(head_weights)}."
        )
    if not heads:
        raise ValueError(f"Must specify heads. Given: {heads}")
    for name, head in zip(names, heads, strict=True):
        if not name:
            raise ValueError(f"All given heads must have name specified. Given: {head}")


def logits_by_head(logits: Nest, labels: Labels, heads: Mapping[str, HasLogits]) -> dict[str, Tensor]:
    """Each head's logits, cut out of `[..., n]` where they are not by name already.

    Raises:
        ValueError: logits or labels of a head are missing, or there are more or fewer logits than the heads take.
    """
    if labels is not None:
        if not isinstance(labels, dict):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        _check_names(labels, heads, "labels")
    if not isinstance(logits, dict):
        return _split(logits, heads)
    _check_names(logits, heads, "logits")
    return logits


def _check_names(values: Mapping[str, object], heads: Mapping[str, HasLogits], what: str) -> None:
    missing = [name for name in heads if name not in values]
    if missing:
        raise ValueError(f"{what} has missing values for head(s): {missing}; there are {sorted(values)}")


def _split(logits: Nest, heads: Mapping[str, HasLogits]) -> dict[str, Tensor]:
    with get_default_graph().name_scope("split_logits"):
        logits = convert_to_tensor(logits)
        sizes = [each.logits_dimension for each in heads.values()]
        dims = logits.dims
        if dims and dims[-1] not in (None, sum(sizes)):
            raise ValueError(
                f"Could not split logits of shape {list(dims)} among the heads with individual logits dimensions: {sizes}. "
                f"The last dimension of the logits tensor should equal {sum(sizes)} but is {dims[-1]}."
            )
        begins = [sum(sizes[:place]) for place in range(len(sizes))]
        return {name: logits[..., begin : begin + size] for name, begin, size in zip(heads, begins, sizes, strict=True)}


def merged_loss(losses: Sequence[Tensor], head_weights: Sequence[float], penalties: Sequence[Tensor] | None) -> Tensor:
    """The sum of the heads' losses, each times its weight if there are any, and of the regularization losses."""
    with get_default_graph().name_scope("merge_losses"):
        if head_weights:
            losses = [mul(loss, weight) for loss, weight in zip(losses, head_weights, strict=True)]
        return add_n([*losses, *(penalties or ())])


def merged_outputs(by_head: Mapping[str, Mapping[str, ExportOutput]]) -> dict[str, ExportOutput]:
    """The outputs of an exported model from those of each head: `head`, `head/NAME`; the first head's is the default."""
    default = layout.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    outputs: dict[str, ExportOutput] = {default: next(iter(by_head.values()))[default]}
    predictions = {}
    for name, of_head in by_head.items():
        for key, output in of_head.items():
            outputs[name if key == default else f"{name}/{key}"] = output
            if key == _PREDICT and isinstance(output, PredictOutput):
                predictions.update({f"{name}/{each}": value for each, value in output.outputs.items()})
    outputs[_PREDICT] = PredictOutput(predictions)
    return outputs
