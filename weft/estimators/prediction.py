"""The results of predictions: which of them are wanted, and one for each example of a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.framework.building.aliases import Nest


def chosen_predictions(predictions: Nest, predict_keys: Sequence[str] | str | None) -> Nest:
    """The predictions under some keys; all without any.

    Raises:
        ValueError: they have no keys, or none of these.
    """
    if not predict_keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    chosen = {key: value for key, value in predictions.items() if key in predict_keys}
    if not chosen:
        raise ValueError(f"Expected to run at least one output from {predictions.keys()}, provided {predict_keys}.")
    return chosen


def single_predictions(batch: Nest) -> Iterator[Nest]:
    """One prediction after another from those of a batch, an array or a dict of arrays.

    Raises:
        ValueError: the arrays have different lengths.
    """
    if not isinstance(batch, dict):
        yield from batch
        return
    length = None
    for key, value in batch.items():
        length = length or value.shape[0]
        if value.shape[0] != length:
            raise ValueError(
                f"Batch length of predictions should be same. {key} has different batch length than "
                f"others: {value.shape[0]}, not {length}. Each prediction is a row of "
                "all values: tf.tile or tf.fill repeats what all share."
            )
    for index in range(length or 0):
        yield {key: value[index] for key, value in batch.items()}
