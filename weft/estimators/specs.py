"""TrainSpec and EvalSpec: the inputs, the ends and the hooks of `train_and_evaluate`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from weft.estimators.aliases import InputFn
from weft.estimators.exporters import Exporter
from weft.framework.building.aliases import Nest
from weft.training.hooks.session_run_hook import SessionRunHook


class _TrainFields(NamedTuple):
    """What a TrainSpec holds."""

    input_fn: InputFn
    max_steps: int | None
    hooks: tuple[SessionRunHook, ...]


class TrainSpec(_TrainFields):
    """How to train.

    Args:
        input_fn: builds the input, as `Estimator.train` takes it.
        max_steps: the global step to stop at; None: when the input ends.
        hooks: SessionRunHooks.

    Raises:
        TypeError: `input_fn` cannot be called, or a hook is none.
        ValueError: `max_steps` is not positive.

    >>> spec = tf.estimator.TrainSpec(lambda: tf.data.Dataset.range(3), max_steps=100)
    >>> spec.max_steps
    100
    """

    __slots__ = ()

    def __new__(
        cls, input_fn: InputFn, max_steps: int | None = None, hooks: Iterable[SessionRunHook] | None = None
    ) -> TrainSpec:
        """Check the parts and make the record."""
        _check_input_fn(input_fn)
        if max_steps is not None and isinstance(max_steps, str | bytes):
            raise TypeError(f"max_steps must be a number, got {max_steps!r} of type {type(max_steps).__name__!r}")
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn, max_steps, checked_hooks(hooks))


class _EvalFields(NamedTuple):
    """What an EvalSpec holds."""

    input_fn: InputFn
    steps: int | None
    name: str | None
    hooks: tuple[SessionRunHook, ...]
    exporters: tuple[Exporter, ...]
    start_delay_secs: float
    throttle_secs: float


class EvalSpec(_EvalFields):
    """How to evaluate while a model trains.

    Args:
        input_fn: builds the input, as `Estimator.evaluate` takes it.
        steps: batches of each evaluation; None: until the input ends.
        name: makes the directory of the evaluation's events `eval_NAME`.
        hooks: SessionRunHooks.
        exporters: an Exporter or several, asked after each evaluation.
        start_delay_secs: how long an evaluator waits before its first evaluation.
        throttle_secs: the time from one evaluation to the next at least.

    Raises:
        TypeError: `input_fn` cannot be called, or a part has a wrong type.
        ValueError: a number is out of its range, or two exporters share a name.

    >>> spec = tf.estimator.EvalSpec(lambda: tf.data.Dataset.range(3), steps=None)
    >>> spec.throttle_secs
    600
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: InputFn,
        steps: int | None = 100,
        name: str | None = None,
        hooks: Iterable[SessionRunHook] | None = None,
        exporters: Exporter | Iterable[Exporter] | None = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:
        """Check the parts and make the record."""
        _check_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        if start_delay_secs < 0:
            raise ValueError(f"Must specify start_delay_secs >= 0, given: {start_delay_secs}")
        if throttle_secs < 0:
            raise ValueError(f"Must specify throttle_secs >= 0, given: {throttle_secs}")
        return super().__new__(
            cls, input_fn, steps, name, checked_hooks(hooks), _checked_exporters(exporters), start_delay_secs, throttle_secs
        )


def checked_hooks(hooks: Iterable[SessionRunHook] | None) -> tuple[SessionRunHook, ...]:
    """The hooks as a tuple; TypeError when one is none."""
    checked = tuple(hooks or ())
    for hook in checked:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be `SessionRunHook` instances, given: {hook}")
    return checked


def _check_input_fn(input_fn: object) -> None:
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def _checked_exporters(exporters: Nest) -> tuple[Exporter, ...]:
    if not exporters:
        return ()
    given = [exporters] if isinstance(exporters, Exporter) else exporters
    if not isinstance(given, Iterable) or not all(isinstance(each, Exporter) for each in given):
        raise TypeError(f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, found {exporters}.")
    names = [each.name for each in given]
    for number, name in enumerate(names):
        if not name:
            raise ValueError(f"An Exporter cannot have a name that is `None` or empty. All exporter names: {names}")
        if not isinstance(name, str):
            raise ValueError(f"An Exporter must have a string name. Given: {type(name)}")
        if name in names[:number]:
            raise ValueError(f"`exporters` must have unique names. Such a name cannot be `None`. All exporter names: {names}")
    return tuple(given)
