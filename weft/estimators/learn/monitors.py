"""Monitors: what contrib.learn called before hooks were: told of each step, and asked whether to stop."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from weft.checkpoint.checkpoint_state import latest_checkpoint
from weft.client.session import Session
from weft.estimators.aliases import ByAnyKey, InputFn, Metrics
from weft.framework.building.aliases import Fetches, Nest, SessionLike
from weft.framework.types.printed import printed
from weft.platform.logs import tf_logging
from weft.training.coordinator import Coordinator
from weft.training.hooks.global_step_read import global_step_read
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues


class Evaluated(Protocol):
    """What a monitor uses of an estimator."""

    @property
    def model_dir(self) -> str:
        """Where the checkpoints are."""
        ...

    @property
    def config(self) -> Any:
        """The RunConfig."""
        ...


class BaseMonitor:
    """Is called around each step. Every method does nothing unless a subclass says otherwise."""

    __repr__ = printed("tf.contrib.learn.monitors")

    def __init__(self) -> None:
        self._estimator: Any = None
        self._max_steps: int | None = None

    @property
    def run_on_all_workers(self) -> bool:
        """Whether workers that are not the chief use it too."""
        return False

    def set_estimator(self, estimator: Evaluated) -> None:
        """Take the estimator that trains.

        Args:
            estimator: the Estimator.
        """
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """Called when training begins, while the graph can be changed.

        Args:
            max_steps: the last step, or None.
        """
        self._max_steps = max_steps

    def end(self, session: Session | None = None) -> None:
        """Called when training ends.

        Args:
            session: the session, which still runs.
        """

    def step_begin(self, step: int) -> list[Any]:
        """Called before a step; returns tensors or their names to fetch with it.

        Args:
            step: the global step before.
        """
        return []

    def step_end(self, step: int, output: ByAnyKey | None) -> bool:
        """Called after it with their values by name; returns whether to stop.

        Args:
            step: the global step before.
            output: the values of what `step_begin` asked for, by name.
        """
        return False

    def post_step(self, step: int, session: SessionLike) -> None:
        """Called after `step_end`.

        Args:
            step: the global step before.
            session: the session.
        """


class EveryN(BaseMonitor):
    """A monitor of every so many steps, of the first ones, and of the last.

    Args:
        every_n_steps: steps between two calls.
        first_n_steps: so many steps at the beginning are all told of.
    """

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1) -> None:
        super().__init__()
        self._every_n_steps = every_n_steps
        self._first_n_steps = first_n_steps
        self._last_active_step = 0
        self._last_successful_step: int | None = None
        self._is_active = False

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Called before such a step; returns what to fetch with it.

        Args:
            step: the step that begins.
        """
        return []

    def every_n_step_end(self, step: int, outputs: ByAnyKey | None) -> bool:
        """Called after such a step; returns whether to stop.

        Args:
            step: the step that has ended.
            outputs: the values of what `every_n_step_begin` asked for, by its name; None where nothing was fetched.
        """
        return False

    def every_n_post_step(self, step: int, session: SessionLike) -> None:
        """Called after `every_n_step_end`, and at the end for a last step that was none of those.

        Args:
            step: the step that has ended.
            session: the session, in which something more can be run.
        """

    def step_begin(self, step: int) -> list[Any]:
        """Ask whether it is such a step."""
        self._is_active = (
            step <= self._first_n_steps or step >= self._last_active_step + self._every_n_steps or step == self._max_steps
        )
        return self.every_n_step_begin(step) if self._is_active else []

    def step_end(self, step: int, output: ByAnyKey | None) -> bool:
        """Pass it on."""
        return self._is_active and self.every_n_step_end(step, output)

    def post_step(self, step: int, session: SessionLike) -> None:
        """Pass it on."""
        if self._is_active:
            self.every_n_post_step(step, session)
            self._last_active_step = step
        self._last_successful_step = step

    def end(self, session: Session | None = None) -> None:
        """Tell of the last step, if it was none of those told of."""
        super().end(session)
        last = self._last_successful_step
        if session is not None and last is not None and last != self._last_active_step:
            self.every_n_post_step(last, session)


class PrintTensor(EveryN):
    """Logs tensors.

    Args:
        tensor_names: names of tensors, by the tags to print; or just several of them.
        every_n: steps between two lines.
        first_n: so many steps at the beginning are all logged.
    """

    def __init__(self, tensor_names: Mapping[str, str] | Iterable[str], every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._names = dict(tensor_names) if isinstance(tensor_names, Mapping) else {name: name for name in tensor_names}

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Ask for the tensors."""
        return list(self._names.values())

    def every_n_step_end(self, step: int, outputs: ByAnyKey | None) -> bool:
        """Log them."""
        told = (f"{tag} = {(outputs or {})[name]!s}" for tag, name in self._names.items())
        tf_logging.info("Step %d: %s", step, ", ".join(told))
        return False


class StopAtStep(BaseMonitor):
    """Stops after a number of steps, or at a step.

    Args:
        num_steps: steps to make.
        last_step: the step to stop at.

    Raises:
        ValueError: both or neither are given.
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        super().__init__()
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    @property
    def run_on_all_workers(self) -> bool:
        """Yes."""
        return True

    def step_begin(self, step: int) -> list[Any]:
        """Count from the first step."""
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = step + self._num_steps - 1
        return []

    def step_end(self, step: int, output: ByAnyKey | None) -> bool:
        """Stop at the last one."""
        assert self._last_step is not None
        return step >= self._last_step


class ValidationMonitor(EveryN):
    """Evaluates checkpoints while a model trains, and stops when a metric has not become better for some steps.

    Args:
        x, y: arrays to evaluate on.
        input_fn: builds the input, instead.
        batch_size: rows of arrays in a batch.
        eval_steps: batches of an evaluation.
        every_n_steps: steps between two looks for a checkpoint.
        metrics: further metrics, as `evaluate` takes them.
        hooks: SessionRunHooks of the evaluations.
        early_stopping_rounds: steps without a better value after which training stops; None for never.
        early_stopping_metric: the metric that counts.
        early_stopping_metric_minimize: whether less is better.
        name: makes the directory of the evaluations' events `eval_NAME`.
        check_interval_secs: seconds between two looks at least.

    Raises:
        ValueError: there is no input.
    """

    def __init__(
        self,
        x: Nest = None,
        y: Nest = None,
        input_fn: InputFn | None = None,
        batch_size: int | None = None,
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        metrics: ByAnyKey | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: str | None = None,
        check_interval_secs: float | None = 5,
    ) -> None:
        super().__init__(every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self._input = {"x": x, "y": y, "input_fn": input_fn, "batch_size": batch_size}
        self._eval_steps = eval_steps
        self._metrics = metrics
        self._hooks = hooks
        self._early_stopping_rounds = early_stopping_rounds
        self._early_stopping_metric = early_stopping_metric
        self._is_less_better = early_stopping_metric_minimize
        self._name = name
        self._check_interval_secs = check_interval_secs
        self._last_check_s: float | None = None
        self._latest_path: str | None = None
        self._early_stopped = False
        self._best_value: float | None = None
        self._best_value_step: int | None = None
        self._best_metrics: Metrics | None = None

    @property
    def early_stopped(self) -> bool:
        """Whether training was stopped by this monitor."""
        return self._early_stopped

    @property
    def best_step(self) -> int | None:
        """The step of the best value."""
        return self._best_value_step

    @property
    def best_value(self) -> float | None:
        """The best value of the metric."""
        return self._best_value

    @property
    def best_metrics(self) -> Metrics | None:
        """All metrics of that evaluation."""
        return self._best_metrics

    def every_n_step_end(self, step: int, outputs: ByAnyKey | None) -> bool:
        """Evaluate if there is a new checkpoint, and compare."""
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        now_s = time.monotonic()
        last_s, interval_s = self._last_check_s, self._check_interval_secs
        if interval_s is not None and last_s is not None and now_s - last_s <= interval_s:
            return False
        self._last_check_s = now_s
        path = latest_checkpoint(self._estimator.model_dir)
        if path is None or path == self._latest_path:
            return False
        self._latest_path = path
        return self._compare(step, self._evaluate(path))

    def _evaluate(self, path: str) -> Metrics:
        further = {"steps": self._eval_steps, "hooks": self._hooks, "name": self._name, "checkpoint_path": path}
        if hasattr(self._estimator, "fit"):
            results: Metrics = self._estimator.evaluate(**self._input, metrics=self._metrics, **further)
        else:
            results = self._estimator.evaluate(self._input["input_fn"], **further)
        tf_logging.info(
            "Validation (step %d): %s", results["global_step"], ", ".join(f"{k} = {v!s}" for k, v in results.items())
        )
        return results

    def _compare(self, step: int, results: Metrics) -> bool:
        if self._early_stopping_rounds is None:
            return False
        value = results[self._early_stopping_metric]
        best = self._best_value
        if best is None or (value < best if self._is_less_better else value > best):
            self._best_value, self._best_value_step, self._best_metrics = value, step, results
        assert self._best_value_step is not None
        if step - self._best_value_step < self._early_stopping_rounds:
            return False
        tf_logging.info(
            "Stopping. Best step: %s with %s = %s.", self._best_value_step, self._early_stopping_metric, self._best_value
        )
        self._early_stopped = True
        return True


class RunHookAdapterForMonitors(SessionRunHook):
    """Lets monitors take part in a training session.

    Args:
        monitors: the monitors.
    """

    def __init__(self, monitors: Sequence[BaseMonitor]) -> None:
        self._monitors = list(monitors)

    def begin(self) -> None:
        """Tell them."""
        self._last_step: int | None = None
        self._global_step_tensor = global_step_read("RunHookAdapterForMonitors")
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Have the step found out before the next run: a program may restore or set it until then."""
        self._last_step = None

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Ask for what they want of the step."""
        if self._last_step is None:
            self._last_step = int(run_context.session.run(self._global_step_tensor))
        step = self._last_step + 1
        wanted = {_name(each): each for monitor in self._monitors for each in monitor.step_begin(step)}
        graph = run_context.session.graph
        self._requested: Fetches = {name: graph.as_graph_element(each) for name, each in wanted.items()}
        return SessionRunArgs({"step": self._global_step_tensor, "wanted": self._requested})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Give it to them, and stop if one wants it."""
        assert self._last_step is not None
        step = self._last_step + 1
        values = run_values.results["wanted"]
        stops = [monitor.step_end(step, values) for monitor in self._monitors]
        if any(stops):
            run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(step, run_context.session)
        self._last_step = int(run_values.results["step"]) if int(run_values.results["step"]) > self._last_step else step

    def end(self, session: Session) -> None:
        """Tell them."""
        for monitor in self._monitors:
            monitor.end(session)


# What `fit` takes as monitors.
Monitor: TypeAlias = BaseMonitor | SessionRunHook


def replace_monitors_with_hooks(monitors_or_hooks: Sequence[Monitor] | None, estimator: Evaluated) -> list[SessionRunHook]:
    """The hooks as they are, and one that stands for all monitors that this task uses.

    Args:
        monitors_or_hooks: both kinds; None for none.
        estimator: whom the monitors watch.
    """
    given = list(monitors_or_hooks or ())
    hooks = [each for each in given if isinstance(each, SessionRunHook)]
    monitors = [each for each in given if isinstance(each, BaseMonitor)]
    if not estimator.config.is_chief:
        monitors = [each for each in monitors if each.run_on_all_workers]
    for monitor in monitors:
        monitor.set_estimator(estimator)
    return [*hooks, RunHookAdapterForMonitors(monitors)] if monitors else hooks


def _name(tensor: Any) -> str:
    return tensor if isinstance(tensor, str) else str(tensor.name)
