"""Early stopping: ends the training of all replicas when the metrics of evaluations say so."""

from __future__ import annotations

import operator
import os
from collections import defaultdict
from collections.abc import Callable

from weft.estimators.aliases import Metrics
from weft.estimators.estimator import Estimator
from weft.events.summary_iterator import summary_iterator
from weft.framework.building.aliases import VariableLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.types import dtypes
from weft.ops.variables.assign import assign
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Constant
from weft.ops.variables.variable_scope import variable_scope
from weft.ops.variables.variable_store import AUTO_REUSE
from weft.platform.files import gfile
from weft.platform.logs import tf_logging
from weft.training.hooks.hook_timer import SecondOrStepTimer
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from weft.training.training_util import get_global_step


def make_early_stopping_hook(
    estimator: Estimator,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook by which the chief asks a function whether to stop, and the others look whether it has said so.

    Args:
        estimator: the model.
        should_stop_fn: tells whether to stop.
        run_every_secs: seconds between two questions.
        run_every_steps: steps between them, instead.

    Raises:
        TypeError: the estimator is none, or the function cannot be called.
        ValueError: seconds and steps are both given.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    if estimator.config.is_chief:
        return _StopOnPredicateHook(should_stop_fn, run_every_secs, run_every_steps)
    return _CheckForStoppingHook()


def stop_if_higher_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that stops training once a metric is above a threshold.

    Args:
        estimator: the model.
        metric_name: the metric.
        threshold: the threshold.
        eval_dir: where the events of the evaluations are; `estimator.eval_dir()` when None.
        min_steps: evaluations before this global step do not count.
        run_every_secs, run_every_steps: how often to look.
    """
    crossed = _threshold_crossed(eval_dir or estimator.eval_dir(), metric_name, threshold, True, min_steps)
    return make_early_stopping_hook(estimator, crossed, run_every_secs, run_every_steps)


def stop_if_lower_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that stops training once a metric is below a threshold; otherwise `stop_if_higher_hook`.

    Args:
        estimator: the estimator.
        metric_name: the name of a metric of its evaluations.
        threshold: the bound.
        eval_dir: where evaluations are written; the model's own folder "eval" when None.
        min_steps: the step before which training goes on.
        run_every_secs, run_every_steps: how often evaluations are looked at; one of the two.
    """
    crossed = _threshold_crossed(eval_dir or estimator.eval_dir(), metric_name, threshold, False, min_steps)
    return make_early_stopping_hook(estimator, crossed, run_every_secs, run_every_steps)


def stop_if_no_increase_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that stops training once a metric has not risen for so many steps; otherwise `stop_if_higher_hook`.

    Args:
        estimator: the estimator.
        metric_name: the name of a metric of its evaluations.
        max_steps_without_increase: how many steps.
        eval_dir: where evaluations are written; the model's own folder "eval" when None.
        min_steps: the step before which training goes on.
        run_every_secs, run_every_steps: how often evaluations are looked at; one of the two.
    """
    stuck = _no_improvement(eval_dir or estimator.eval_dir(), metric_name, max_steps_without_increase, True, min_steps)
    return make_early_stopping_hook(estimator, stuck, run_every_secs, run_every_steps)


def stop_if_no_decrease_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that stops training once a metric has not fallen for so many steps; otherwise `stop_if_higher_hook`.

    Args:
        estimator: the estimator.
        metric_name: the name of a metric of its evaluations.
        max_steps_without_decrease: how many steps.
        eval_dir: where evaluations are written; the model's own folder "eval" when None.
        min_steps: the step before which training goes on.
        run_every_secs, run_every_steps: how often evaluations are looked at; one of the two.
    """
    stuck = _no_improvement(eval_dir or estimator.eval_dir(), metric_name, max_steps_without_decrease, False, min_steps)
    return make_early_stopping_hook(estimator, stuck, run_every_secs, run_every_steps)


def read_eval_metrics(eval_dir: str) -> dict[int, Metrics]:
    """The metrics of all evaluations, numbers only, by global step in rising order, as the events of a directory have them."""
    found: defaultdict[int, Metrics] = defaultdict(dict)
    pattern = os.path.join(eval_dir, "events.out.tfevents.*")
    for path in gfile.Glob(pattern) if gfile.Exists(eval_dir) else []:
        for event in summary_iterator(path):
            numbers = {each.tag: each.simple_value for each in event.summary.value if each.HasField("simple_value")}
            if numbers:
                found[event.step].update(numbers)
    return dict(sorted(found.items()))


def _threshold_crossed(
    eval_dir: str, metric_name: str, threshold: float, is_higher_better: bool, min_steps: int
) -> Callable[[], bool]:
    is_better = operator.gt if is_higher_better else operator.lt

    def crossed() -> bool:
        for step, metrics in read_eval_metrics(eval_dir).items():
            if step >= min_steps and is_better(metrics[metric_name], threshold):
                tf_logging.info(
                    'At step %s, metric "%s" has value %s which is %s the configured threshold (%s) for early stopping.',
                    step,
                    metric_name,
                    metrics[metric_name],
                    "greater than" if is_higher_better else "less than",
                    threshold,
                )
                return True
        return False

    return crossed


def _no_improvement(
    eval_dir: str, metric_name: str, most_steps: int, is_higher_better: bool, min_steps: int
) -> Callable[[], bool]:
    is_better = operator.gt if is_higher_better else operator.lt

    def stuck() -> bool:
        best: float | None = None
        best_step = 0
        for step, metrics in read_eval_metrics(eval_dir).items():
            if step < min_steps:
                continue
            value = metrics[metric_name]
            if best is None or is_better(value, best):
                best, best_step = value, step
            if step - best_step >= most_steps:
                tf_logging.info(
                    'No %s in metric "%s" for %s steps, which is greater than or equal to max steps (%s) configured for early '
                    "stopping.",
                    "increase" if is_higher_better else "decrease",
                    metric_name,
                    step - best_step,
                    most_steps,
                )
                return True
        return False

    return stuck


class _StopOnPredicateHook(SessionRunHook):
    """The chief's: sets a variable of the model, which the others see, and stops."""

    def __init__(self, should_stop_fn: Callable[[], bool], run_every_secs: float | None, run_every_steps: int | None) -> None:
        if not callable(should_stop_fn):
            raise TypeError("`should_stop_fn` must be callable.")
        self._should_stop_fn = should_stop_fn
        self._timer = SecondOrStepTimer(every_secs=run_every_secs, every_steps=run_every_steps)

    def begin(self) -> None:
        self._global_step_tensor = get_global_step()
        self._stop_op = assign(_stop_variable(), True)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = run_values.results
        if not self._timer.should_trigger_for_step(step):
            return
        self._timer.update_last_triggered_step(step)
        if self._should_stop_fn():
            tf_logging.info("Requesting early stopping at global step %d", step)
            run_context.session.run(self._stop_op)
            run_context.request_stop()


class _CheckForStoppingHook(SessionRunHook):
    """Any other replica's: stops when the chief has said so."""

    def begin(self) -> None:
        self._stop_variable = _stop_variable()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._stop_variable)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results:
            tf_logging.info("Early stopping requested, suspending run.")
            run_context.request_stop()


def _stop_variable() -> VariableLike:
    with variable_scope("signal_early_stopping", reuse=AUTO_REUSE):
        return get_variable(
            "STOP",
            shape=[],
            dtype=dtypes.bool,
            initializer=Constant(False),
            collections=[GraphKeys.GLOBAL_VARIABLES],
            trainable=False,
        )
