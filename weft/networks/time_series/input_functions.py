"""Input functions of series: windows in random order, all of a series, and what comes after an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from weft.framework.building.aliases import Array, Nest, TensorLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.framework.types.tensor_shape import TensorShape
from weft.networks.time_series.feature_keys import FilteringResults, PredictionFeatures, TrainEvalFeatures
from weft.networks.time_series.readers import TimeSeriesReader
from weft.ops.array.batch_gather import batch_gather
from weft.ops.array.constant import constant
from weft.ops.array.identity import identity
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.array.tiling import reverse
from weft.ops.array.topk import top_k
from weft.ops.control_flow.cond import cond
from weft.ops.math.reduce_functions import reduce_all, reduce_any
from weft.ops.random.functions import random_uniform
from weft.ops.variables.assign import assign, is_variable_initialized
from weft.ops.variables.variable import Variable
from weft.training.input.batching import batch, maybe_shuffle_batch
from weft.training.input.input_producers import limit_epochs

Batch: TypeAlias = tuple[dict[str, Tensor], None]


def predict_continuation_input_fn(
    evaluation: Mapping[str, Nest], steps: int | None = None, times: Nest = None,
    exogenous_features: Mapping[str, Nest] | None = None,
) -> Callable[[], tuple[dict[str, Nest], None]]:  # fmt: skip
    """An input function for the predictions of what comes after an evaluation.

    Args:
        evaluation: what `evaluate` has returned.
        steps: how many times to predict.
        times: the times to predict instead, `[batch, window]` or `[window]`.
        exogenous_features: exogenous features of these times by name, `[batch, window, ...]`.

    Returns:
        The input function.

    Raises:
        ValueError: both of `steps` and `times` are given, or neither, or the times do not come after the evaluation.
    """
    features = {
        PredictionFeatures.STATE_TUPLE: evaluation[FilteringResults.STATE_TUPLE],
        PredictionFeatures.TIMES: times_after(evaluation, steps, times), **(exogenous_features or {}),
    }  # fmt: skip

    def predict_input_fn() -> tuple[dict[str, Nest], None]:
        once = {
            key: nest.map_structure(lambda value: limit_epochs(constant(value), num_epochs=1), values)
            for key, values in features.items()
        }
        return once, None

    return predict_input_fn


def times_after(previous: Mapping[str, Nest], steps: int | None, times: Nest) -> Array:
    """The times to predict after what a model has seen: `[batch, window]`.

    Args:
        previous: what an evaluation or a filter has given.
        steps: how many.
        times: which.

    Raises:
        ValueError: see `predict_continuation_input_fn`.
    """
    if steps is not None and times is not None:
        raise ValueError(f"Only one of `steps` and `times` may be specified, got {steps} and {times}.")
    seen = np.asarray(previous[FilteringResults.TIMES])
    if steps is not None:
        return seen[:, -1:] + 1 + np.arange(steps)[None, ...]
    if times is None:
        raise ValueError("One of `steps` and `times` must be specified.")
    wanted = np.array(times)
    if wanted.ndim != 2:
        wanted = wanted[None, ...]
    if seen.shape[0] != wanted.shape[0]:
        raise ValueError(
            "`times` must have a batch dimension matching the previous model output (got a batch dimension of "
            f"{wanted.shape[0]} for `times` and {seen.shape[0]} for the previous model output)."
        )
    if not (seen[:, -1] < wanted[:, 0]).all():
        raise ValueError(
            f"Prediction times must be after the corresponding previous model output: found {wanted[:, 0]} after {seen[:, -1]}."
        )
    return wanted


class TimeSeriesInputFn:
    """An input function of a series."""

    __repr__ = printed("tf.contrib.timeseries")

    def create_batch(self) -> Batch:
        """A batch.

        Returns:
            Features by name, `[batch, window, ...]`, and None for the labels that there are not.
        """
        raise NotImplementedError(f"create_batch is not implemented for {type(self).__name__}.")

    def __call__(self) -> Batch:
        return self.create_batch()


class WholeDatasetInputFn(TimeSeriesInputFn):
    """A series as one window: to evaluate it, and to predict what comes after it.

    Args:
        time_series_reader: reads the series.
    """

    def __init__(self, time_series_reader: TimeSeriesReader) -> None:
        self._reader = time_series_reader

    def create_batch(self) -> Batch:
        """Features by name, `[1, times, ...]`, and None."""
        return {name: value[None, ...] for name, value in self._reader.read_full().items()}, None


class RandomWindowInputFn(TimeSeriesInputFn):
    """Windows of a series in random order: to train, and to evaluate a loss.

    Args:
        time_series_reader: reads the series.
        window_size: how many times a window has.
        batch_size: how many windows a batch has.
        queue_capacity_multiplier: how many batches wait at most.
        shuffle_min_after_dequeue_multiplier: of how many batches at least the next one is drawn.
        discard_out_of_order: leave out windows whose times do not grow, rather than sort them: where a file begins anew.
        discard_consecutive_batches_limit: after so many batches of such windows alone the input ends.
        jitter: leave out a time now and then, so that windows are cut elsewhere in each round.
        num_threads: how many threads collect; with one, and a seed, the order is fixed.
        shuffle_seed: the seed of the order.

    Raises:
        ValueError: the series is shorter than a window.
    """

    def __init__(
        self, time_series_reader: TimeSeriesReader, window_size: int, batch_size: int, queue_capacity_multiplier: int = 1000,
        shuffle_min_after_dequeue_multiplier: int = 2, discard_out_of_order: bool = True,
        discard_consecutive_batches_limit: int = 1000, jitter: bool = True, num_threads: int | None = 2,
        shuffle_seed: int | None = None,
    ) -> None:  # fmt: skip
        time_series_reader.check_dataset_size(minimum_dataset_size=window_size)
        self._reader = time_series_reader
        self._window_size = window_size
        self._batch_size = batch_size
        self._queue_capacity_multiplier = queue_capacity_multiplier
        self._shuffle_min_after_dequeue_multiplier = shuffle_min_after_dequeue_multiplier
        self._discard_out_of_order = discard_out_of_order
        self._discard_limit = discard_consecutive_batches_limit
        self._jitter = jitter
        self._num_threads = batch_size if num_threads is None else num_threads
        self._shuffle_seed = shuffle_seed

    def create_batch(self) -> Batch:
        """Features by name, `[batch_size, window_size, ...]`, and None."""
        windows = self._windows(self._reader.read())
        keep: TensorLike = True
        if self._discard_out_of_order:
            keep = self._in_order(windows[TrainEvalFeatures.TIMES])
        else:
            windows = _sorted(windows)
        batched = maybe_shuffle_batch(
            windows, num_threads=self._num_threads, seed=self._shuffle_seed, batch_size=self._batch_size,
            capacity=self._queue_capacity_multiplier * self._batch_size,
            min_after_dequeue=self._shuffle_min_after_dequeue_multiplier * self._batch_size, keep_input=keep, enqueue_many=True,
        )  # fmt: skip
        return batched, None

    def _windows(self, features: dict[str, Tensor]) -> dict[str, Tensor]:
        """A batch of windows that follow each other."""
        left_out: Nest = random_uniform(shape=[], maxval=2, dtype=dtypes.int32) if self._jitter else 0
        rows = self._window_size * self._batch_size
        collected = batch(
            features, batch_size=rows + left_out, enqueue_many=True, capacity=self._queue_capacity_multiplier * rows,
            num_threads=self._num_threads,
        )  # fmt: skip
        sizes = [self._batch_size, self._window_size]
        found = {}
        for key, value in collected.items():
            used = value[left_out:] if self._jitter else value
            found[key] = reshape(used, concat([sizes, shape(used)[1:]], axis=0))
            found[key].set_shape(TensorShape(sizes).concatenate(value.get_shape()[1:]))
        return found

    def _in_order(self, times: Tensor) -> Tensor:
        """Which windows have times that do not fall; an OutOfRangeError when none has for a long time."""
        is_kept = reduce_all(times[:, 1:] >= times[:, :-1], axis=1)
        discarded = Variable(
            constant(0, dtype=dtypes.int64), name="discarded_windows_limiter", trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )  # fmt: skip

        def count() -> Tensor:
            found: Tensor = cond(
                reduce_any(is_kept), lambda: assign(discarded, 0), lambda: discarded.count_up_to(self._discard_limit)
            )
            return found

        counted = cond(is_variable_initialized(discarded), count, lambda: constant(0, dtype=dtypes.int64))
        with get_default_graph().control_dependencies([counted]):
            kept: Tensor = identity(is_kept)
        return kept


def _sorted(windows: dict[str, Tensor]) -> dict[str, Tensor]:
    """Windows whose times grow."""
    times = windows[TrainEvalFeatures.TIMES]
    _, falling = top_k(times, k=shape(times)[-1], sorted=True)
    growing = reverse(falling, axis=[1])
    return {key: batch_gather(value, growing) for key, value in windows.items()}
