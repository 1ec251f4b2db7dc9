"""The loops over epochs and batches: training, tests and prediction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from weft.framework.building.aliases import Array, Nest
from weft.networks.callbacks.callback import Callback, CallbackList, History, Logs
from weft.networks.callbacks.progress import ProgbarLogger
from weft.networks.config import KerasObject
from weft.networks.fitting.batches import Batch, Source
from weft.networks.fitting.compilation import Compilation
from weft.platform.logs import tf_logging

Step = Callable[[Batch], Sequence[Array]]


@dataclass
class Plan:
    """How a model is trained.

    Attributes:
        model: the model, for callbacks.
        compilation: runs batches, and begins the metrics anew.
        names: the names of the values of a batch: the loss and the metrics.
        source, validation: the batches; validation may be None.
        epochs: how many there are, counted from `first_epoch`.
        first_epoch: the number of the first.
        verbose: 0, 1 or 2.
        validation_epochs: tells whether an epoch ends with a validation.
    """

    model: KerasObject
    compilation: Compilation
    names: Sequence[str]
    source: Source
    validation: Source | None
    epochs: int
    first_epoch: int
    verbose: int
    validation_epochs: Callable[[int], bool]

    def params(self) -> Logs:
        """What callbacks are told."""
        has_validation = self.validation is not None
        more = [f"val_{name}" for name in self.names] if has_validation else []
        told = {"epochs": self.epochs, "do_validation": has_validation}
        return {**_params(self.source, self.verbose, [*self.names, *more]), **told}

    def told(self) -> str | None:
        """What is trained on, in words."""
        extent = self.source.extent()
        validated = None if self.validation is None else self.validation.extent()
        if extent is None:
            return None
        return f"Train on {extent}" + (f", validate on {validated}" if validated is not None else "")


def _params(source: Source, verbose: int, metrics: Sequence[str]) -> Logs:
    """What callbacks are told of a loop; where nobody counts examples, steps stand for them, as in TensorFlow."""
    samples = source.samples if source.samples is not None else source.steps
    return {"batch_size": source.batch_size, "epochs": 1, "steps": source.steps, "samples": samples, "verbose": verbose,
            "do_validation": False, "metrics": list(metrics)}  # fmt: skip


class _Means:
    """The values of an epoch: the mean of the loss by examples, or by steps; metrics gather by themselves."""

    def __init__(self, by_samples: bool) -> None:
        self._by_samples = by_samples
        self._loss, self._count, self.last_size = 0.0, 0, 0
        self._rest: list[Nest] = []

    def add(self, values: Sequence[Nest], size: int) -> None:
        weight = size if self._by_samples else 1
        self._loss += float(values[0]) * weight
        self._count += weight
        self.last_size = size
        self._rest = [each.item() if hasattr(each, "item") else each for each in values[1:]]

    def values(self) -> list[Nest]:
        return [self._loss / max(self._count, 1), *self._rest]

    def __bool__(self) -> bool:
        return self._count > 0


def _bar(source: Source, verbose: int, names: Sequence[str]) -> list[ProgbarLogger]:
    """The progress bar, if something is to be told."""
    mode = "steps" if source.samples is None else "samples"
    return [ProgbarLogger(mode, stateful_metrics=names[1:])] if verbose else []


def fit(plan: Plan, callbacks: Sequence[Callback] | None) -> History:
    """Train over epochs; what was seen."""
    history = History()
    told = plan.told()
    if plan.verbose and told is not None:
        print(told)
    bar = _bar(plan.source, plan.verbose, plan.names)
    called = CallbackList([*(callbacks or ()), history, *bar], plan.model, plan.params())
    validated = called.without(bar)
    plan.model.history = history
    plan.model.stop_training = False
    # Those of a training that failed are not taken off.
    plan.compilation.watches.clear()
    called.call("on_train_begin", None)
    for epoch in range(plan.first_epoch, plan.epochs):
        if plan.model.stop_training:
            break
        plan.compilation.reset_metrics()
        called.call("on_epoch_begin", epoch, {})
        means = _train_epoch(plan, called)
        logs: Logs = dict(zip(plan.names, means.values(), strict=True)) if means else {}
        if plan.validation is not None and plan.validation_epochs(epoch):
            if plan.source.sizes_validation and plan.validation.batch_size is not None and means:
                plan.validation.batch_size = means.last_size
            values = test(plan.model, plan.compilation, plan.names, plan.validation, None, 0, validated)
            logs.update({f"val_{name}": value for name, value in zip(plan.names, values, strict=True)})
        called.call("on_epoch_end", epoch, logs)
        plan.source.finish()
        called.params["steps"] = plan.source.steps
    called.call("on_train_end", None)
    return history


def _train_epoch(plan: Plan, called: CallbackList) -> _Means:
    means = _Means(plan.source.samples is not None)
    number = 0
    for number, batch in enumerate(plan.source.epoch(), 1):
        logs: Logs = {"batch": number - 1, "size": batch.size}
        called.call("on_train_batch_begin", number - 1, logs)
        values = plan.compilation.train_step(batch)
        means.add(values, batch.size)
        logs = {**logs, **{name: _plain(each) for name, each in zip(plan.names, values, strict=True)}}
        called.call("on_train_batch_end", number - 1, logs)
        if plan.model.stop_training:
            break
    wanted = plan.source.steps
    if wanted is not None and number < wanted and not plan.model.stop_training:
        tf_logging.warning(
            "Your dataset iterator ran out of data; interrupting training. Make sure that your iterator can generate at least "
            "`%s * epochs` batches (in this case, %d batches). You may need to use the repeat() function when building your "
            "dataset.", "steps_per_epoch", wanted * plan.epochs,
        )  # fmt: skip
        plan.model.stop_training = True
    return means


def _plain(value: Any) -> Nest:
    return value.item() if hasattr(value, "item") else value


def test(
    model: KerasObject, compilation: Compilation, names: Sequence[str], source: Source,
    callbacks: Sequence[Callback] | None, verbose: int, around: CallbackList | None,
) -> list[Nest]:  # fmt: skip
    """The loss and the metrics over all batches; within training, whose callbacks are `around`, these hear of it."""
    bar = [] if around else _bar(source, verbose, names)
    called = around or CallbackList([*(callbacks or ()), *bar], model, _params(source, verbose, names))
    compilation.reset_metrics()
    called.call("on_test_begin", None)
    means = _Means(source.samples is not None)
    for number, batch in enumerate(source.epoch()):
        logs: Logs = {"batch": number, "size": batch.size}
        called.call("on_test_batch_begin", number, logs)
        values = compilation.test_step(batch)
        means.add(values, batch.size)
        called.call("on_test_batch_end", number, {**logs, **dict(zip(names, map(_plain, values), strict=True))})
    source.finish()
    found = means.values() if means else [0.0] * len(names)
    called.call("on_test_end", None)
    for each in bar:
        each.on_epoch_end(0, dict(zip(names, found, strict=True)))
    return found


def predict(
    model: KerasObject, step: Step, source: Source, callbacks: Sequence[Callback] | None, verbose: int
) -> list[Sequence[Array]]:
    """The outputs of all batches."""
    bar = _bar(source, verbose, ())
    called = CallbackList([*(callbacks or ()), *bar], model, _params(source, verbose, ()))
    called.call("on_predict_begin", None)
    made = []
    for number, batch in enumerate(source.epoch()):
        logs: Logs = {"batch": number, "size": batch.size}
        called.call("on_predict_batch_begin", number, logs)
        outputs = step(batch)
        made.append(outputs)
        called.call("on_predict_batch_end", number, {**logs, "outputs": outputs})
    source.finish()
    called.call("on_predict_end", None)
    for each in bar:
        each.on_epoch_end(0)
    return made
