"""MultiHead: several tasks of tf.estimator on the logits of one model, each with a head of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.estimators.aliases import Features, Labels
from weft.estimators.canned.heads_together import check_heads, logits_by_head, merged_loss, merged_outputs
from weft.estimators.canned.keys import MetricKeys
from weft.estimators.export.export_output import ExportOutput
from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.networks.heads.head import Head
from weft.networks.metrics.metric import Mean, Metric


class MultiHead(Head):
    """Several tasks at once: the sum of the heads' losses is trained on.

    Labels are by the heads' names, logits too or one behind the other; predictions have pairs of a head's name and their own as
    keys. The outputs of an exported model are `head`, `head/NAME`; the first head's is the default.

    Args:
        heads: the heads, each with a name.
        head_weights: what each head's loss is multiplied by; by 1 when None.

    Raises:
        ValueError: there are no heads, one has no name, or there are more or fewer weights.
    """

    def __init__(self, heads: Sequence[Head], head_weights: Sequence[float] | None = None) -> None:
        check_heads([each.name for each in heads or ()], heads, head_weights)
        self._heads = {str(each.name): each for each in heads}
        self._head_weights = tuple(head_weights or ())

    @property
    def name(self) -> str:
        """The heads' names, one behind the other."""
        return "_".join(self._heads)

    @property
    def logits_dimension(self) -> int:
        """The sum of the heads' dimensions."""
        return sum(each.logits_dimension for each in self._heads.values())

    @property
    def loss_reduction(self) -> str:
        """That of all heads; ValueError when they have several."""
        found = [each.loss_reduction for each in self._heads.values()]
        if len(set(found)) > 1:
            raise ValueError(f"The loss_reduction must be the same for different heads. Given: {found}")
        return found[0]

    def predictions(self, logits: Nest, keys: Sequence[str] | None = None) -> dict[Any, Tensor]:
        """All heads' predictions, by pairs of the head's name and their own."""
        by_head = logits_by_head(logits, None, self._heads)
        return {
            (name, key): value for name, head in self._heads.items() for key, value in head.predictions(by_head[name]).items()
        }

    def export_outputs(self, predictions: dict[Any, Tensor]) -> dict[str, ExportOutput]:
        """The outputs of all heads."""
        return merged_outputs(
            {
                name: head.export_outputs({key: value for (of, key), value in predictions.items() if of == name})
                for name, head in self._heads.items()
            }
        )

    def training_loss(self, features: Features, logits: Nest, labels: Labels) -> Tensor:
        """The sum of the heads' losses."""
        by_head = logits_by_head(logits, labels, self._heads)
        losses = [head.loss(labels[name], by_head[name], features) for name, head in self._heads.items()]
        return merged_loss(losses, self._head_weights, None)

    def new_metrics(self) -> dict[str, Metric]:
        """The loss of each head; their other metrics come with the first batch."""
        keys = [f"{MetricKeys.LOSS}/{name}" for name in self._heads]
        return {key: Mean(name=key) for key in keys}

    def take_in(self, metrics: dict[str, Metric], features: Features, logits: Nest, labels: Labels) -> None:
        """Let the heads' losses take in a batch, and add their other metrics, which do so too."""
        by_head = logits_by_head(logits, labels, self._heads)
        for name, head in self._heads.items():
            loss = head.loss(labels[name], by_head[name], features)
            metrics[f"{MetricKeys.LOSS}/{name}"].update_state(loss)
            metrics.update(head.update_metrics(head.metrics(), features, by_head[name], labels[name]))
