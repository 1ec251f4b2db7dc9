"""contrib.learn's Estimator: fit, evaluate and predict, by a tf.estimator inside."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from weft.checkpoint.checkpoint_contents import list_variables, load_variable
from weft.checkpoint.checkpoint_state import latest_checkpoint
from weft.estimators import estimator as core
from weft.estimators.aliases import Features, InputFn, Labels, Metrics, ModelFn, Params
from weft.estimators.estimator_config import settled_config
from weft.estimators.export.saved_model_export import ReceiverFn
from weft.estimators.input_function import has_an_end, parse_input_fn_result
from weft.estimators.learn.arrays import array_input_fn, check_inputs
from weft.estimators.learn.core_estimator import CoreEstimator
from weft.estimators.learn.metric_spec import MetricSpec
from weft.estimators.learn.model_fn_ops import ModeKeys, ModelFnOps
from weft.estimators.learn.monitors import Monitor, replace_monitors_with_hooks
from weft.estimators.learn.run_config import RunConfig as LearnRunConfig
from weft.estimators.run_config import RunConfig
from weft.framework.building.aliases import Array, Feeds, Nest
from weft.framework.compat.function_signatures import fn_args
from weft.framework.nodes.operation import Tensor
from weft.framework.types.printed import printed
from weft.ops.array.identity import identity
from weft.platform.logs import tf_logging
from weft.training.hooks.feed_hooks import FeedFnHook
from weft.training.hooks.session_run_hook import SessionRunContext, SessionRunHook, SessionRunValues


class NotFittedError(ValueError, AttributeError):
    """Raised by what needs a checkpoint, when there is none."""


class BaseEstimator:
    """The common part of contrib.learn's estimators: a core estimator of a model that `_build` makes.

    Args:
        model_dir: where checkpoints and events are written; the RunConfig's when None, else a temporary directory.
        config: the RunConfig.
    """

    __repr__ = printed("tf.contrib.learn")

    def __init__(self, model_dir: str | os.PathLike[str] | None = None, config: RunConfig | None = None) -> None:
        if config is None:
            config = LearnRunConfig()
            tf_logging.info("Using default config.")
        self._config = settled_config(config, model_dir)

    @property
    def config(self) -> RunConfig:
        """A copy of the RunConfig."""
        return copy.deepcopy(self._config)

    @property
    def model_dir(self) -> str:
        """The directory of checkpoints and events."""
        return str(self._config.model_dir)

    @property
    def model_fn(self) -> Callable[[Features, Labels, str, RunConfig], ModelFnOps]:
        """The model's function, of features, labels, mode and config."""
        return self._build

    def _build(self, features: Features, labels: Labels, mode: str, config: RunConfig) -> ModelFnOps:
        raise NotImplementedError(f"a model is not implemented for {type(self).__name__}.")

    def fit(
        self,
        x: Nest = None,
        y: Nest = None,
        input_fn: InputFn | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Sequence[Monitor] | None = None,
        max_steps: int | None = None,
    ) -> BaseEstimator:
        """Train from the last checkpoint on.

        Args:
            x, y: arrays of features and labels; each batch is a random part of them.
            input_fn: builds the input, instead: returns features and labels.
            steps: steps to make in this call.
            batch_size: rows of arrays in a batch; all when None.
            monitors: monitors or SessionRunHooks.
            max_steps: the global step to stop at, instead of `steps`.

        Returns:
            The estimator.

        Raises:
            ValueError: arrays and function, or both numbers of steps, are given.
        """
        if steps is not None and max_steps is not None:
            raise ValueError(
                f"Can not provide both steps and max_steps. Got steps={steps} more and max_steps={max_steps} in all."
            )
        check_inputs(x, y, input_fn, batch_size)
        fed = input_fn or array_input_fn(x, y, batch_size, shuffle=True, num_epochs=None)
        hooks = replace_monitors_with_hooks(monitors, self)
        self._core({}).train(fed, hooks, steps, max_steps)
        return self

    def partial_fit(
        self,
        x: Nest = None,
        y: Nest = None,
        input_fn: InputFn | None = None,
        steps: int | None = 1,
        batch_size: int | None = None,
        monitors: Sequence[Monitor] | None = None,
    ) -> BaseEstimator:
        """Train for a step; the arguments are those of `fit`.

        Args:
            x: the features, as an array; or `input_fn` in its place.
            y: the labels.
            input_fn: a function that makes features and labels.
            steps: how many steps; None for as many as the input has.
            batch_size: rows at a time; all when None.
            monitors: monitors or hooks, called at each step.

        Returns:
            The estimator itself.
        """
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def evaluate(
        self,
        x: Nest = None,
        y: Nest = None,
        input_fn: InputFn | None = None,
        feed_fn: Callable[[], Feeds] | None = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Mapping[Any, Any] | None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        log_progress: bool = True,
    ) -> Metrics:
        """Evaluate a checkpoint.

        Args:
            x, y: arrays of features and labels, which are read once.
            input_fn: builds the input, instead.
            feed_fn: makes what to feed each batch.
            batch_size: rows of arrays in a batch; all when None.
            steps: how many batches; None: until the input ends.
            metrics: further metrics by name: MetricSpecs, or functions of predictions and labels.
            name: makes the directory of the evaluation's events `eval_NAME`.
            checkpoint_path: the checkpoint; the last one when None.
            hooks: SessionRunHooks.
            log_progress: kept for programs that pass it.

        Returns:
            The values of the metrics by name, `loss` and `global_step` among them.

        Raises:
            ValueError: arrays and function are given, or the metrics are no dict.
            NotFittedError: there is no checkpoint.
        """
        check_inputs(x, y, input_fn, batch_size)
        if metrics is not None and not isinstance(metrics, dict):
            raise ValueError(f"Metrics argument should be None or dict. Got {metrics}.")
        path = checkpoint_path or self._trained()
        fed = input_fn or array_input_fn(x, y, batch_size, shuffle=False, num_epochs=1)
        all_hooks = [*(hooks or ()), *([] if feed_fn is None else [FeedFnHook(feed_fn)])]
        return self._core(metrics or {}).evaluate(fed, steps or None, all_hooks, path, name)

    def predict(
        self,
        x: Nest = None,
        input_fn: InputFn | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """Predict; an input that does not end is asked for one batch.

        Args:
            x: an array of features.
            input_fn: builds the input, instead.
            batch_size: rows of the array in a batch; all when None.
            outputs: the names of those predictions that are wanted; all when None.
            as_iterable: return an iterator of predictions, rather than the first batch.
            iterate_batches: let it give whole batches.

        Raises:
            ValueError: array and function are given.
            NotFittedError: there is no checkpoint.
        """
        check_inputs(x, None, input_fn, batch_size)
        path = self._trained()
        fed = input_fn or array_input_fn(x, None, batch_size, shuffle=False, num_epochs=1)
        is_whole = iterate_batches or not as_iterable
        end = _ConstantInputEnd()
        found = self._core({}).predict(_features_of(fed, end), outputs, [end], path, yield_single_examples=not is_whole)
        if as_iterable:
            return found
        if x is None:
            return _first(found)
        batches = list(found)
        if isinstance(batches[0], dict):
            return {key: np.concatenate([each[key] for each in batches]) for key in batches[0]}
        return np.concatenate(batches)

    def get_variable_value(self, name: str) -> Array:
        """The value of a variable in the last checkpoint."""
        return load_variable(self.model_dir, name)

    def get_variable_names(self) -> list[str]:
        """The names of the variables in the last checkpoint."""
        return [name for name, _ in list_variables(self.model_dir)]

    def export_savedmodel(
        self,
        export_dir_base: str,
        serving_input_fn: ReceiverFn,
        default_output_alternative_key: str | None = None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Write the model as a SavedModel into a new directory, whose name is the time in seconds.

        Args:
            export_dir_base: where this directory is made.
            serving_input_fn: builds the input: a ServingInputReceiver, or InputFnOps.
            default_output_alternative_key: which of several outputs is the default.
            assets_extra, as_text, checkpoint_path, strip_default_attrs: see `tf.estimator.Estimator.export_savedmodel`.

        Returns:
            The directory's path.

        Raises:
            NotFittedError: there is no checkpoint.
        """
        path = checkpoint_path or self._trained()
        return self._core({}, default_output_alternative_key).export_savedmodel(
            export_dir_base, serving_input_fn, assets_extra, as_text, path, strip_default_attrs
        )

    def _core(self, metrics: Mapping[Any, Any], default_output: str | None = None) -> core.Estimator:
        def build(features: Features, labels: Labels, mode: str, config: RunConfig) -> ModelFnOps:
            made = self._build(features, labels, mode, config)
            if mode == ModeKeys.EVAL and metrics:
                made.eval_metric_ops.update(_metric_ops(metrics, features, labels, made.predictions))
            return made

        return CoreEstimator(build, default_output, self._config)

    def _trained(self) -> str:
        path = latest_checkpoint(self.model_dir)
        if path is None:
            raise NotFittedError(f"Couldn't find trained model at {self.model_dir}.")
        return path


class Estimator(BaseEstimator):
    """A model as a function, with `fit`, `evaluate` and `predict`.

    Args:
        model_fn: takes features, labels and any of `mode`, `params`, `config` and `model_dir`; returns ModelFnOps, or the tuple
            of predictions, loss and train_op.
        model_dir, config: see BaseEstimator.
        params: given to `model_fn`.
        feature_engineering_fn: makes features and labels of the input's.

    Raises:
        ValueError: there are params, and the function does not take them.
    """

    def __init__(
        self,
        model_fn: ModelFn,
        model_dir: str | os.PathLike[str] | None = None,
        config: RunConfig | None = None,
        params: Params = None,
        feature_engineering_fn: Callable[[Features, Labels], tuple[Features, Labels]] | None = None,
    ) -> None:
        super().__init__(model_dir, config)
        takes_params = "params" in fn_args(model_fn)
        if params is not None and not takes_params:
            raise ValueError(
                f"Estimator's model_fn ({model_fn}) does not have a params argument, but params ({params}) were passed to the "
                "Estimator's constructor."
            )
        if params is None and takes_params:
            tf_logging.warning(
                "Estimator's model_fn (%s) includes params argument, but params are not passed to Estimator.", model_fn
            )
        self._model_fn = model_fn
        self.params = params
        self._feature_engineering_fn = feature_engineering_fn

    def _build(self, features: Features, labels: Labels, mode: str, config: RunConfig) -> ModelFnOps:
        if self._feature_engineering_fn is not None:
            features, labels = self._feature_engineering_fn(features, labels)
        taken = fn_args(self._model_fn)
        offered = {"mode": mode, "params": self.params, "config": config, "model_dir": self.model_dir}
        made = self._model_fn(features, labels, **{name: value for name, value in offered.items() if name in taken})
        if isinstance(made, ModelFnOps):
            return made
        if len(made) != 3:
            raise ValueError("Unrecognized value returned by model_fn, please return ModelFnOps.")
        predictions, loss, train_op = made
        return ModelFnOps(mode, predictions, loss, train_op)


class SKCompat:
    """An estimator with scikit-learn's methods, which take arrays.

    Args:
        estimator: the estimator.
    """

    def __init__(self, estimator: BaseEstimator) -> None:
        self._estimator = estimator

    def fit(
        self,
        x: Nest,
        y: Nest,
        batch_size: int = 128,
        steps: int | None = None,
        max_steps: int | None = None,
        monitors: Sequence[Monitor] | None = None,
    ) -> SKCompat:
        """Train; see `BaseEstimator.fit`.

        Args:
            x: the features, as an array or a dict of arrays.
            y: the labels.
            batch_size: rows at a time.
            steps: how many further steps.
            max_steps: the global step at which it ends.
            monitors: monitors or hooks, called at each step.

        Returns:
            This object.
        """
        self._estimator.fit(x, y, steps=steps, batch_size=batch_size, monitors=monitors, max_steps=max_steps)
        return self

    def score(
        self,
        x: Nest,
        y: Nest,
        batch_size: int = 128,
        steps: int | None = None,
        metrics: Mapping[Any, Any] | None = None,
        name: str | None = None,
    ) -> Metrics:
        """Evaluate; see `BaseEstimator.evaluate`.

        Args:
            x: the features, as an array or a dict of arrays.
            y: the labels.
            batch_size: rows at a time.
            steps: how many batches; None for one pass over the rows.
            metrics: further metrics by name.

        Returns:
            By name the values of the metrics, and the global step.
        """
        return self._estimator.evaluate(x, y, batch_size=batch_size, steps=steps, metrics=metrics, name=name)

    def predict(self, x: Nest, batch_size: int = 128, outputs: Sequence[str] | None = None) -> Any:
        """The predictions of all rows, as one array or a dict of arrays.

        Args:
            x: the features, as an array or a dict of arrays.
            batch_size: rows at a time.
            outputs: the names of the predictions that are wanted; all when None.
        """
        return self._estimator.predict(x, batch_size=batch_size, outputs=outputs, as_iterable=False)


class _ConstantInputEnd(SessionRunHook):
    """Ends predictions of an input that has no end, after one batch."""

    def __init__(self) -> None:
        self.is_endless = False

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self.is_endless:
            run_context.request_stop()


def _features_of(input_fn: InputFn, end: _ConstantInputEnd) -> InputFn:
    """An input function without labels, which tells the hook whether its input ends."""

    def features_fn() -> Nest:
        result = input_fn()
        if not isinstance(result, tuple | list | dict | Tensor):
            return result
        features, _, _ = parse_input_fn_result(result)
        end.is_endless = not has_an_end(features)
        return identity(features) if isinstance(features, Tensor) else features

    return features_fn


def _first(found: Iterator[Any]) -> Any:
    try:
        return next(found)
    finally:
        found.close()  # type: ignore[attr-defined]


def _metric_ops(metrics: Mapping[Any, Any], features: Features, labels: Labels, predictions: Nest) -> dict[str, Any]:
    only = next(iter(labels.values())) if isinstance(labels, dict) and len(labels) == 1 else labels
    found: dict[str, Any] = {}
    for name, metric in metrics.items():
        if isinstance(metric, MetricSpec):
            found[name] = metric.create_metric_ops(features, labels, predictions)
        elif isinstance(name, tuple):
            if len(name) != 2:
                raise ValueError(f"Invalid metric for {name}. It returned a tuple with len {len(name)}, expected 2.")
            if not isinstance(predictions, dict):
                raise ValueError(
                    f"Metrics passed provide (name, prediction), but predictions are not dict. Metrics: {metrics}, "
                    f"Predictions: {predictions}."
                )
            own = labels[name[1]] if isinstance(labels, dict) and name[1] in labels else only
            found[name[0]] = metric(predictions[name[1]], own)
        elif isinstance(predictions, dict):
            raise ValueError(
                f"Metrics passed provide only name, no prediction, but predictions are dict. Metrics: {metrics}, Labels: "
                f"{only}."
            )
        else:
            found[name] = metric(predictions, only)
    return found
