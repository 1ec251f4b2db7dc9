"""TPUEstimatorSpec: what a model function for TPUs returns, and the EstimatorSpec that stands for it elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.export.export_output import ExportOutput
from weft.framework.building.aliases import FetchValue, Nest
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook
from weft.training.scaffold import Scaffold

# A function, and the tensors that it takes: in order, or by name.
HostFunction = tuple[Callable[..., FetchValue], Nest]


class _Fields(NamedTuple):
    """What a TPUEstimatorSpec holds."""

    mode: str
    predictions: Nest
    loss: Nest
    train_op: Nest
    eval_metrics: HostFunction | None
    export_outputs: dict[str, ExportOutput] | None
    scaffold_fn: Callable[[], Scaffold] | None
    host_call: HostFunction | None
    training_hooks: tuple[SessionRunHook, ...]
    evaluation_hooks: tuple[SessionRunHook, ...]
    prediction_hooks: tuple[SessionRunHook, ...]


class TPUEstimatorSpec(_Fields):
    """What a model function for TPUs returns.

    Args:
        mode, predictions, loss, train_op, export_outputs, training_hooks, evaluation_hooks, prediction_hooks: those of
            EstimatorSpec.
        eval_metrics: a function that makes the dict of metrics, and the tensors that it takes.
        scaffold_fn: makes the Scaffold.
        host_call: a function that makes an operation which each step runs, such as one that writes summaries, and its tensors.

    Raises:
        ValueError: `eval_metrics` or `host_call` is not such a pair.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Nest = None,
        loss: Nest = None,
        train_op: Nest = None,
        eval_metrics: HostFunction | None = None,
        export_outputs: dict[str, ExportOutput] | None = None,
        scaffold_fn: Callable[[], Scaffold] | None = None,
        host_call: HostFunction | None = None,
        training_hooks: Iterable[SessionRunHook] | None = None,
        evaluation_hooks: Iterable[SessionRunHook] | None = None,
        prediction_hooks: Iterable[SessionRunHook] | None = None,
    ) -> TPUEstimatorSpec:
        """Check the parts and make the record."""
        _check_pair("eval_metrics", eval_metrics)
        _check_pair("host_call", host_call)
        hooks = (tuple(each or ()) for each in (training_hooks, evaluation_hooks, prediction_hooks))
        return super().__new__(
            cls, mode, predictions, loss, train_op, eval_metrics, export_outputs, scaffold_fn, host_call, *hooks
        )

    def as_estimator_spec(self) -> EstimatorSpec:
        """The EstimatorSpec with which the model runs on CPUs and GPUs."""
        call = [] if self.host_call is None else [_HostCallHook(_called(self.host_call))]
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=None if self.eval_metrics is None else _called(self.eval_metrics),
            export_outputs=self.export_outputs,
            scaffold=None if self.scaffold_fn is None else self.scaffold_fn(),
            training_hooks=(*self.training_hooks, *call),
            evaluation_hooks=(*self.evaluation_hooks, *call),
            prediction_hooks=(*self.prediction_hooks, *call),
        )


class _HostCallHook(SessionRunHook):
    """Runs the operation of a host call with each step."""

    def __init__(self, fetches: Nest) -> None:
        self._fetches = fetches

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the operation."""
        return SessionRunArgs(self._fetches)


def _called(pair: HostFunction) -> FetchValue:
    function, tensors = pair
    return function(**tensors) if isinstance(tensors, Mapping) else function(*tensors)


def _check_pair(name: str, pair: HostFunction | None) -> None:
    if pair is None:
        return
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise ValueError(f"{name} should have two elements: a function and its tensors. Got {pair!r}")
    function, tensors = pair
    if not callable(function):
        raise TypeError(f"{name}[0] should be callable, got {function!r}")
    if not isinstance(tensors, Sequence | Mapping):
        raise ValueError(f"{name}[1] should be a list, tuple or dict of tensors, got {tensors!r}")
