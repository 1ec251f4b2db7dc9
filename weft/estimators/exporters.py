"""Exporters: write SavedModels while a model trains: the last, the best, or one at the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from weft import errors
from weft.estimators.aliases import Metrics
from weft.estimators.estimator import Estimator
from weft.estimators.estimator_spec import LOSS_METRIC_KEY
from weft.estimators.export.saved_model_export import ReceiverFn
from weft.events.summary_iterator import summary_iterator
from weft.framework.compat.function_signatures import fn_args
from weft.framework.types.printed import printed
from weft.platform.files import gfile
from weft.platform.logs import tf_logging

# Tells from `best_eval_result` and `current_eval_result` whether the second is better.
CompareFn: TypeAlias = Callable[..., bool]

_VERSION_DIGITS = 10  # of a directory's name that is the time in seconds
_COMPARED = frozenset(("best_eval_result", "current_eval_result"))


class Exporter:
    """Exports a model after its evaluations; subclasses say when."""

    __repr__ = printed("tf.estimator")

    @property
    def name(self) -> str:
        """The directory of the exports, below `export` in the model's directory."""
        raise NotImplementedError(f"name is not implemented for {type(self).__name__}.")

    def export(
        self,
        estimator: Estimator,
        export_path: str,
        checkpoint_path: str,
        eval_result: Metrics,
        is_the_final_export: bool,
    ) -> bytes | None:
        """Export a checkpoint, or leave it.

        Args:
            estimator: the model.
            export_path: the directory to write below.
            checkpoint_path: the checkpoint that was evaluated.
            eval_result: its metrics.
            is_the_final_export: whether training has ended.

        Returns:
            The path of the SavedModel; None when there is none.
        """
        raise NotImplementedError(f"export is not implemented for {type(self).__name__}.")


class _SavedModelExporter(Exporter):
    """Exports each model that it is given.

    Args:
        name: the directory of the exports.
        serving_input_receiver_fn: builds the input of the exported model.
        assets_extra: further files to copy, by their path below `assets.extra`.
        as_text: write the graph as text.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: ReceiverFn | None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
    ) -> None:
        self._name = name
        self._serving_input_receiver_fn = serving_input_receiver_fn
        self._assets_extra = assets_extra
        self._as_text = as_text

    @property
    def name(self) -> str:
        """The directory of the exports."""
        return self._name

    def export(
        self, estimator: Estimator, export_path: str, checkpoint_path: str, eval_result: Metrics, is_the_final_export: bool
    ) -> bytes | None:
        """Export the checkpoint."""
        return estimator.export_saved_model(
            export_path, self._serving_input_receiver_fn, self._assets_extra, self._as_text, checkpoint_path
        )


class FinalExporter(_SavedModelExporter):
    """Exports the model once, when training has ended.

    Args:
        name: the directory of the exports.
        serving_input_receiver_fn: builds the input of the exported model.
        assets_extra: further files to copy, by their path below `assets.extra`.
        as_text: write the graph as text.
    """

    def export(
        self, estimator: Estimator, export_path: str, checkpoint_path: str, eval_result: Metrics, is_the_final_export: bool
    ) -> bytes | None:
        """Export the last checkpoint."""
        if not is_the_final_export:
            return None
        tf_logging.info("Performing the final export in the end of training.")
        return super().export(estimator, export_path, checkpoint_path, eval_result, is_the_final_export)


class LatestExporter(_SavedModelExporter):
    """Exports the model after each evaluation, and keeps the last few exports.

    Args:
        name: the directory of the exports.
        serving_input_receiver_fn: builds the input of the exported model.
        assets_extra: further files to copy, by their path below `assets.extra`.
        as_text: write the graph as text.
        exports_to_keep: how many exports stay; None for all.

    Raises:
        ValueError: `exports_to_keep` is not positive.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: ReceiverFn | None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(f"`exports_to_keep`, if provided, must be a positive number. Got {exports_to_keep}")
        self._exports_to_keep = exports_to_keep

    def export(
        self, estimator: Estimator, export_path: str, checkpoint_path: str, eval_result: Metrics, is_the_final_export: bool
    ) -> bytes | None:
        """Export the checkpoint, and delete the oldest export if there are too many."""
        path = super().export(estimator, export_path, checkpoint_path, eval_result, is_the_final_export)
        _keep_latest(export_path, self._exports_to_keep)
        return path


def _loss_smaller(best_eval_result: Metrics, current_eval_result: Metrics) -> bool:
    """Whether the loss has become smaller."""
    for name, result in (("best_eval_result", best_eval_result), ("current_eval_result", current_eval_result)):
        if not result or LOSS_METRIC_KEY not in result:
            raise ValueError(f"{name} cannot be empty or no loss is found in it.")
    return bool(best_eval_result[LOSS_METRIC_KEY] > current_eval_result[LOSS_METRIC_KEY])


class BestExporter(LatestExporter):
    """Exports the model when it is better than each before, those of earlier runs among them, and keeps the last few exports.

    Args:
        name: the directory of the exports.
        serving_input_receiver_fn: builds the input of the exported model.
        event_file_pattern: the event files, below the model's directory, with earlier evaluations; None for none.
        compare_fn: tells from `best_eval_result` and `current_eval_result` whether the second is better; by the loss if not
            given.
        assets_extra: further files to copy, by their path below `assets.extra`.
        as_text: write the graph as text.
        exports_to_keep: how many exports stay; None for all.

    Raises:
        ValueError: the function is None or takes other arguments, or `exports_to_keep` is not positive.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: ReceiverFn | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: CompareFn | None = _loss_smaller,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        self._compare_fn = _checked_compare_fn(compare_fn)
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)
        self._event_file_pattern = event_file_pattern
        self._model_dir: str | None = None
        self._best_eval_result: Metrics | None = None

    def export(
        self, estimator: Estimator, export_path: str, checkpoint_path: str, eval_result: Metrics, is_the_final_export: bool
    ) -> bytes | None:
        """Export the checkpoint if it is the best."""
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            tf_logging.info("Loading best metric from event files.")
            self._model_dir = estimator.model_dir
            self._best_eval_result = self._best_of(os.path.join(self._model_dir, self._event_file_pattern))
        best = self._best_eval_result
        if best is not None and not self._compare_fn(best_eval_result=best, current_eval_result=eval_result):
            return None
        tf_logging.info("Performing best model export.")
        self._best_eval_result = eval_result
        return super().export(estimator, export_path, checkpoint_path, eval_result, is_the_final_export)

    def _best_of(self, pattern: str) -> Metrics | None:
        best = None
        for result in evaluations_of(pattern):
            if best is None or self._compare_fn(best, result):
                best = result
        return best


def evaluations_of(pattern: str) -> Iterator[Metrics]:
    """The metrics of evaluations, numbers only, as the event files of a pattern have them."""
    for path in gfile.Glob(pattern) if gfile.Exists(os.path.dirname(pattern)) else []:
        for event in summary_iterator(path):
            found: Metrics = {each.tag: each.simple_value for each in event.summary.value if each.HasField("simple_value")}
            if found:
                yield found


def _checked_compare_fn(compare_fn: CompareFn | None) -> CompareFn:
    if compare_fn is None:
        raise ValueError("`compare_fn` must not be None.")
    taken = set(fn_args(compare_fn))
    for name in sorted(_COMPARED - taken):
        raise ValueError(f"compare_fn ({compare_fn}) must include {name} argument.")
    if taken - _COMPARED:
        raise ValueError(f"compare_fn ({compare_fn}) has following not expected args: {sorted(taken - _COMPARED)}")
    return compare_fn


def _keep_latest(export_path: str, count: int | None) -> None:
    """Delete the oldest of the directories whose name is a time, but some."""
    if count is None:
        return
    names = (name.rstrip("/") for name in gfile.ListDirectory(export_path))
    versions = sorted(name for name in names if len(name) == _VERSION_DIGITS and name.isdigit())
    for name in versions[:-count]:
        path = os.path.join(export_path, name)
        try:
            gfile.DeleteRecursively(path)
        except errors.NotFoundError as error:
            tf_logging.warning("Can not delete %s recursively: %s", path, error)
