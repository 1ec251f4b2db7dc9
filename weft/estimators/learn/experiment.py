"""Experiment: an estimator with its inputs, trained and evaluated as the task of this process asks."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from weft.checkpoint.checkpoint_state import latest_checkpoint
from weft.distributed.server.server import Server
from weft.estimators import estimator as core
from weft.estimators.aliases import ByAnyKey, InputFn, Metrics
from weft.estimators.learn.estimator import BaseEstimator
from weft.estimators.learn.export_strategy import ExportStrategy
from weft.estimators.learn.monitors import Monitor, ValidationMonitor, replace_monitors_with_hooks
from weft.estimators.learn.run_config import Environment
from weft.estimators.learn.run_config import RunConfig as LearnRunConfig
from weft.framework.compat.function_signatures import fn_args
from weft.framework.graphs.collections import GraphKeys
from weft.framework.types.printed import printed
from weft.platform.logs import tf_logging
from weft.training.hooks.checkpoint_hooks import CheckpointSaverListener
from weft.training.hooks.feed_hooks import GlobalStepWaiterHook
from weft.training.hooks.session_run_hook import SessionRunHook

_SECS_BETWEEN_WARNINGS = 600
_LONGEST_DELAY_SECS = 60
_DELAY_SECS_PER_TASK = 5
_STEPS_PER_TASK = 8000.0


class Experiment:
    """An estimator and what to train and evaluate it with.

    Args:
        estimator: a contrib.learn estimator or a tf.estimator.
        train_input_fn, eval_input_fn: build the inputs.
        eval_metrics: further metrics, for a contrib.learn estimator.
        train_steps: the global step to stop at; None: when the input ends.
        eval_steps: batches of an evaluation; None: until the input ends.
        train_monitors: monitors or SessionRunHooks.
        eval_hooks: SessionRunHooks of evaluations.
        local_eval_frequency: steps between evaluations of `local_run`.
        eval_delay_secs: how long `evaluate` and its like wait first.
        continuous_eval_throttle_secs: the time from one evaluation to the next at least.
        min_eval_frequency: steps between evaluations of `train_and_evaluate`, if there is a new checkpoint; 0 for none.
        delay_workers_by_global_step: let workers wait for steps of the others rather than for seconds.
        export_strategies: an ExportStrategy or several, asked after evaluations.
        train_steps_per_iteration: steps between the evaluations of `continuous_train_and_eval`.
        checkpoint_and_export: kept for programs that pass it; `train_and_evaluate` exports at its end.
        saving_listeners: told of each checkpoint, for a tf.estimator.
        check_interval_secs: seconds between two looks for a checkpoint.

    Raises:
        ValueError: it is no estimator, or something does not go with its kind.
    """

    __repr__ = printed("tf.contrib.learn")

    def __init__(
        self,
        estimator: BaseEstimator | core.Estimator,
        train_input_fn: InputFn,
        eval_input_fn: InputFn,
        eval_metrics: ByAnyKey | None = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Sequence[Monitor] | None = None,
        eval_hooks: Sequence[SessionRunHook] | None = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: ExportStrategy | Sequence[ExportStrategy] | None = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Sequence[CheckpointSaverListener] | None = None,
        check_interval_secs: float = 5,
    ) -> None:
        if isinstance(estimator, core.Estimator):
            if eval_metrics is not None:
                raise ValueError(
                    "`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use `eval_metric_ops` in "
                    "`tf.estimator.EstimatorSpec` instead."
                )
        elif not isinstance(estimator, BaseEstimator):
            raise ValueError("`estimator` must implement `tf.contrib.learn.Evaluable` or `tf.estimator.Estimator`.")
        elif saving_listeners is not None:
            raise ValueError("`saving_listeners` must be `None` with `tf.contrib.learn.Estimator`.")
        if train_steps_per_iteration is not None and not isinstance(train_steps_per_iteration, int):
            raise ValueError("`train_steps_per_iteration` must be an integer.")
        self._estimator = estimator
        self._train_input_fn = train_input_fn
        self._eval_input_fn = eval_input_fn
        self._eval_metrics = eval_metrics
        self._train_steps = train_steps
        self._eval_steps = eval_steps
        self._train_monitors = list(train_monitors or ())
        self._eval_hooks = list(eval_hooks or ())
        self._local_eval_frequency = local_eval_frequency
        self._eval_delay_secs = eval_delay_secs
        self._continuous_eval_throttle_secs = continuous_eval_throttle_secs
        self._min_eval_frequency = 1 if min_eval_frequency is None else min_eval_frequency
        self._delay_workers_by_global_step = delay_workers_by_global_step
        self._export_strategies = _checked_strategies(export_strategies)
        self._train_steps_per_iteration = train_steps_per_iteration
        self._saving_listeners = saving_listeners
        self._check_interval_secs = check_interval_secs

    @property
    def estimator(self) -> BaseEstimator | core.Estimator:
        """The estimator."""
        return self._estimator

    @property
    def eval_metrics(self) -> ByAnyKey | None:
        """The further metrics."""
        return self._eval_metrics

    @property
    def train_steps(self) -> int | None:
        """The global step to stop at."""
        return self._train_steps

    @property
    def eval_steps(self) -> int | None:
        """Batches of an evaluation."""
        return self._eval_steps

    def extend_train_hooks(self, additional_hooks: Sequence[Monitor]) -> None:
        """Add monitors or hooks of training.

        Args:
            additional_hooks: added behind those there are.
        """
        self._train_monitors.extend(additional_hooks)

    def reset_export_strategies(
        self, new_export_strategies: ExportStrategy | Sequence[ExportStrategy] | None = None
    ) -> tuple[ExportStrategy, ...]:
        """Replace the export strategies; returns those before.

        Args:
            new_export_strategies: what exports after an evaluation from now on; None for nothing.
        """
        before, self._export_strategies = self._export_strategies, _checked_strategies(new_export_strategies)
        return before

    def train(self, delay_secs: float | None = None) -> Any:
        """Train, as the chief or a worker of a cluster does, with a server of its own there.

        Args:
            delay_secs: how long to wait first; five seconds for each task before this one when None.

        Returns:
            What the estimator's `train` gives: the estimator.

        Raises:
            ValueError: a cluster is told by a RunConfig that is not contrib.learn's.
        """
        self._start_server_of_cluster()
        hooks: list[Monitor] = []
        if delay_secs is None:
            task_id = self._estimator.config.task_id or 0
            delay_secs = min(_LONGEST_DELAY_SECS, task_id * _DELAY_SECS_PER_TASK)
            if self._delay_workers_by_global_step:
                hooks.append(GlobalStepWaiterHook(int(_STEPS_PER_TASK * math.log(task_id + 1))))
                delay_secs = 0
        if delay_secs > 0:
            tf_logging.info("Waiting %d secs before starting training.", delay_secs)
            time.sleep(delay_secs)
        return self._call_train([*self._train_monitors, *hooks], self._train_steps)

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> Metrics:
        """Evaluate the last checkpoint.

        Args:
            delay_secs: how long to wait first; `eval_delay_secs` when None.
            name: makes the directory of the evaluation's events `eval_NAME`.

        Returns:
            By name the values of the metrics, and the global step.
        """
        _wait(self._eval_delay_secs if delay_secs is None else delay_secs)
        return self._call_evaluate(name or "one_pass")

    def train_and_evaluate(self) -> tuple[Metrics, list[Any]]:
        """Train, evaluate on the way whenever there is a new checkpoint, and at the end; then export.

        Returns:
            The metrics of the last evaluation, and the results of the export strategies.
        """
        return self._train_and_evaluate(self._min_eval_frequency)

    def local_run(self) -> tuple[Metrics, list[Any]]:
        """`train_and_evaluate` with evaluations every `local_eval_frequency` steps."""
        return self._train_and_evaluate(self._local_eval_frequency)

    def _train_and_evaluate(self, frequency: int | None) -> tuple[Metrics, list[Any]]:
        monitors = list(self._train_monitors)
        if frequency:
            monitors.append(
                ValidationMonitor(
                    input_fn=self._eval_input_fn,
                    eval_steps=self._eval_steps,
                    metrics=self._eval_metrics,
                    every_n_steps=frequency,
                    check_interval_secs=self._check_interval_secs,
                    hooks=self._eval_hooks,
                )
            )
        self._start_server_of_cluster()
        self._call_train(monitors, self._train_steps)
        results = self._call_evaluate(None)
        return results, self._export(results, None)

    def continuous_eval(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Callable[..., bool] | None = None,
        name: str = "continuous",
    ) -> None:
        """Evaluate each new checkpoint, until training has come to its end.

        Args:
            delay_secs: how long to wait first; `eval_delay_secs` when None.
            throttle_delay_secs: the time from one evaluation to the next at least.
            evaluate_checkpoint_only_once: leave a checkpoint that was evaluated before.
            continuous_eval_predicate_fn: tells from the last evaluation, and perhaps `checkpoint_path`, whether to go on.
            name: makes the directory of the evaluations' events `eval_NAME`.

        Raises:
            ValueError: the function cannot be called.
        """
        self._evaluate_on(
            self._eval_input_fn, delay_secs, throttle_delay_secs, evaluate_checkpoint_only_once, continuous_eval_predicate_fn,
            name, self._export_strategies,
        )  # fmt: skip

    def continuous_eval_on_train_data(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        continuous_eval_predicate_fn: Callable[..., bool] | None = None,
        name: str = "continuous_on_train_data",
    ) -> None:
        """Evaluate each new checkpoint on the training's input; the arguments are those of `continuous_eval`.

        Args:
            delay_secs: how long it waits before the first evaluation.
            throttle_delay_secs: the least time from one evaluation's start to the next one's.
            continuous_eval_predicate_fn: told of each result; evaluation ends when it returns False.
        """
        self._evaluate_on(self._train_input_fn, delay_secs, throttle_delay_secs, True, continuous_eval_predicate_fn, name, ())

    def _evaluate_on(
        self,
        input_fn: InputFn,
        delay_secs: float | None,
        throttle_delay_secs: float | None,
        evaluate_checkpoint_only_once: bool,
        continuous_eval_predicate_fn: Callable[..., bool] | None,
        name: str,
        strategies: Sequence[ExportStrategy],
    ) -> None:
        goes_on = _predicate(continuous_eval_predicate_fn)
        _wait(self._eval_delay_secs if delay_secs is None else delay_secs)
        throttle = self._continuous_eval_throttle_secs if throttle_delay_secs is None else throttle_delay_secs
        path: str | None = None
        results: Metrics = {}
        warned_s = -math.inf
        while goes_on(results, path):
            if self._has_training_stopped(results):
                step = results[GraphKeys.GLOBAL_STEP]
                tf_logging.info("Exiting continuous eval, global_step=%s >= train_step=%s", step, self._train_steps)
                return
            started_s = time.monotonic()
            found = latest_checkpoint(self._estimator.model_dir)
            if found is None or (evaluate_checkpoint_only_once and found == path):
                results = {}
                if started_s - warned_s > _SECS_BETWEEN_WARNINGS:
                    tf_logging.warning("No new checkpoint ready for evaluation.")
                    warned_s = started_s
            else:
                results = self._call_evaluate(name, found, input_fn=input_fn)
                self._export(results, found, strategies)
                path = found
            _wait(throttle - (time.monotonic() - started_s))

    def continuous_train_and_eval(
        self, continuous_eval_predicate_fn: Callable[..., bool] | None = None
    ) -> tuple[Metrics, list[Any]]:
        """Train for some steps and evaluate, again and again, until `train_steps`; then export.

        Args:
            continuous_eval_predicate_fn: tells from the last evaluation, and perhaps `checkpoint_path`, whether to go on.

        Returns:
            The metrics of the last evaluation, and the results of the export strategies.
        """
        goes_on = _predicate(continuous_eval_predicate_fn)
        steps = self._train_steps_per_iteration or (1000 if self._train_steps is None else max(self._train_steps // 10, 1))
        results: Metrics = {}
        exports: list[Any] = []
        path: str | None = None
        while goes_on(results, path) and not self._has_training_stopped(results):
            done = int(results.get(GraphKeys.GLOBAL_STEP, 0))
            end = done + steps if self._train_steps is None else min(done + steps, self._train_steps)
            self._call_train(self._train_monitors, end)
            results = self._call_evaluate(None)
            path = latest_checkpoint(self._estimator.model_dir)
            exports = self._export(results, path)
        return results, exports

    def run_std_server(self) -> None:
        """Serve, as a parameter server does, until the server is stopped."""
        self._start_server().join()

    def test(self) -> tuple[Metrics, list[Any]]:
        """Train for a step, evaluate one batch, and export.

        Returns:
            The metrics by name, and a list of what each export strategy gave.
        """
        self._call_train(self._train_monitors, 1)
        results = self._call_evaluate("one_pass", steps=1)
        return results, self._export(results, None)

    def _start_server_of_cluster(self) -> None:
        config = self._estimator.config
        if not (config.cluster_spec and config.master):
            return
        if not isinstance(config, LearnRunConfig):
            raise ValueError(
                "For distributed runtime, Experiment class only works with tf.contrib.learn.RunConfig for now, but provided "
                f"{type(config)}"
            )
        if config.environment == Environment.LOCAL:
            tf_logging.warning(
                "ClusterSpec and master are provided, but environment is set to 'local'. Set environment to 'cloud' if you "
                "intend to use the distributed runtime."
            )
        elif config.environment != Environment.GOOGLE:
            self._start_server()

    def _start_server(self) -> Server:
        config = self._estimator.config
        if not config.cluster_spec or not config.task_type or not config.master or config.task_id is None:
            raise ValueError(
                "Could not start server; be sure to specify cluster_spec, task_type, master, and task in RunConfig or set the "
                "TF_CONFIG environment variable."
            )
        return Server(config.cluster_spec, job_name=config.task_type, task_index=config.task_id, protocol=config.protocol)

    def _call_train(self, monitors: Sequence[Monitor], max_steps: int | None) -> Any:
        if isinstance(self._estimator, BaseEstimator):
            return self._estimator.fit(input_fn=self._train_input_fn, max_steps=max_steps, monitors=monitors)
        hooks = replace_monitors_with_hooks(monitors, self._estimator)
        return self._estimator.train(self._train_input_fn, hooks, max_steps=max_steps, saving_listeners=self._saving_listeners)

    def _call_evaluate(
        self, name: str | None, path: str | None = None, steps: int | None = None, input_fn: InputFn | None = None
    ) -> Metrics:
        input_fn = input_fn or self._eval_input_fn
        steps = self._eval_steps if steps is None else steps
        if isinstance(self._estimator, BaseEstimator):
            return self._estimator.evaluate(
                input_fn=input_fn, steps=steps, metrics=self._eval_metrics, name=name, checkpoint_path=path,
                hooks=self._eval_hooks,
            )  # fmt: skip
        return self._estimator.evaluate(input_fn, steps, self._eval_hooks, path, name)

    def _export(self, results: Metrics, path: str | None, strategies: Sequence[ExportStrategy] | None = None) -> list[Any]:
        base = os.path.join(self._estimator.model_dir, "export")
        return [
            each.export(self._estimator, os.path.join(base, each.name), checkpoint_path=path, eval_result=results)
            for each in (self._export_strategies if strategies is None else strategies)
        ]

    def _has_training_stopped(self, results: Metrics) -> bool:
        step = results.get(GraphKeys.GLOBAL_STEP)
        return bool(step and self._train_steps and step >= self._train_steps)


def _wait(seconds: float) -> None:
    if seconds > 0:
        tf_logging.info("Waiting %f secs before starting eval.", seconds)
        time.sleep(seconds)


def _checked_strategies(given: ExportStrategy | Sequence[ExportStrategy] | None) -> tuple[ExportStrategy, ...]:
    strategies = (given,) if isinstance(given, ExportStrategy) else tuple(given or ())
    for each in strategies:
        if not isinstance(each, ExportStrategy):
            raise ValueError(
                f"`export_strategies` must be an ExportStrategy, an iterable of ExportStrategy, or `None`, found {each}."
            )
    return strategies


def _predicate(function: Callable[..., bool] | None) -> Callable[[Metrics, str | None], bool]:
    """A function of results and checkpoint that tells whether to go on."""
    if function is None:
        return lambda results, path: True
    if not callable(function):
        raise ValueError("`continuous_eval_predicate_fn` must be a callable, or None.")
    if "checkpoint_path" in fn_args(function):
        return lambda results, path: function(results or None, checkpoint_path=path)
    return lambda results, path: function(results or None)
