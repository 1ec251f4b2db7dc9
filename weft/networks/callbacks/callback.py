"""Callback: what runs at the beginning and end of training, tests, prediction, epochs and batches."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Final, Self

from weft.framework.building.aliases import Nest
from weft.framework.types.printed import printed
from weft.networks.config import Config, KerasObject, Options
from weft.platform.waits.function_wait import call_watched

Logs = Config
_OF_FUNCTION: Final = "tf.keras.callbacks.LambdaCallback(on_epoch_end=...) makes one of a function."


class Callback:
    """The base of callbacks: methods that do nothing until a subclass writes them.

    Attributes:
        model: the model, and `params`, how it is trained: batch_size, epochs, steps, samples, verbose, do_validation, metrics.
        validation_data: the arrays that epochs end with, or None.
    """

    __repr__ = printed("tf.keras.callbacks")

    def __init__(self) -> None:
        self.validation_data: Any = None
        self.model: KerasObject = None
        self.params: Logs = {}

    def set_params(self, params: Logs) -> None:
        """Take how the model is trained.

        Args:
            params: epochs, steps, batch size and names of the metrics, by name.
        """
        self.params = params

    def set_model(self, model: KerasObject) -> None:
        """Take the model.

        Args:
            model: the model that is trained.
        """
        self.model = model

    def on_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Run before a batch; `logs` has its number and size.

        Args:
            batch: the batch's number in its epoch.
            logs: its number and size, by name.
        """

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Run after a batch; `logs` has the loss and the metrics too.

        Args:
            batch: the batch's number in its epoch.
            logs: loss and metrics so far, by name.
        """

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Run before an epoch.

        Args:
            epoch: the epoch's number, from 0.
            logs: empty.
        """

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Run after an epoch; `logs` has the loss, the metrics, and those of the validation.

        Args:
            epoch: the epoch's number, from 0.
            logs: loss and metrics of the epoch, by name.
        """

    def on_train_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Run before a batch of training.

        Args:
            batch: the batch's number in its epoch.
            logs: its number and size, by name.
        """
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Run after a batch of training.

        Args:
            batch: the batch's number in its epoch.
            logs: loss and metrics so far, by name.
        """
        self.on_batch_end(batch, logs)

    def on_test_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Run before a batch of a test.

        Args:
            batch: the batch's number in its epoch.
            logs: its number and size, by name.
        """

    def on_test_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Run after a batch of a test.

        Args:
            batch: the batch's number in its epoch.
            logs: loss and metrics so far, by name.
        """

    def on_predict_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Run before a batch of a prediction.

        Args:
            batch: the batch's number in its epoch.
            logs: its number and size, by name.
        """

    def on_predict_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Run after a batch of a prediction.

        Args:
            batch: the batch's number in its epoch.
            logs: loss and metrics so far, by name.
        """

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Run before training.

        Args:
            logs: None, for callbacks of later versions.
        """

    def on_train_end(self, logs: Logs | None = None) -> None:
        """Run after training.

        Args:
            logs: None, for callbacks of later versions.
        """

    def on_test_begin(self, logs: Logs | None = None) -> None:
        """Run before a test.

        Args:
            logs: None, for callbacks of later versions.
        """

    def on_test_end(self, logs: Logs | None = None) -> None:
        """Run after a test.

        Args:
            logs: None, for callbacks of later versions.
        """

    def on_predict_begin(self, logs: Logs | None = None) -> None:
        """Run before a prediction.

        Args:
            logs: None, for callbacks of later versions.
        """

    def on_predict_end(self, logs: Logs | None = None) -> None:
        """Run after a prediction.

        Args:
            logs: None, for callbacks of later versions.
        """


class CallbackList:
    """Callbacks that run one after the other.

    Attributes:
        params: what they are told of the loop.
    """

    def __init__(self, callbacks: Sequence[Callback], model: KerasObject, params: Logs) -> None:
        self.callbacks, self.params = list(callbacks), params
        for each in self.callbacks:
            if isinstance(each, type) or not hasattr(each, "set_model"):
                raise TypeError(
                    f"Each of `callbacks` must be a tf.keras.callbacks.Callback, not {each!r}: "
                    + (f"did you mean {each.__name__}(...)?" if isinstance(each, type) else _OF_FUNCTION)
                )
            each.set_model(model)
        for each in self.callbacks:
            each.set_params(params)

    def without(self, callbacks: Sequence[Callback]) -> Self:
        """The same without some."""
        rest = copy.copy(self)
        rest.callbacks = [each for each in self.callbacks if each not in callbacks]
        return rest

    def call(self, what: str, *args: Options) -> None:
        """Call the method `what` of each."""
        for each in self.callbacks:
            call_watched(getattr(each, what), *args)


class History(Callback):
    """The losses and metrics of each epoch, in `history`, and the epochs' numbers in `epoch`; `fit` returns it."""

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list[Nest]] = {}
        self.epoch: list[int] = []

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Begin with no epoch."""
        self.epoch = []

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Take the epoch in."""
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


class LambdaCallback(Callback):
    """Functions as a callback; those not given do nothing.

    Args:
        on_epoch_begin, on_epoch_end: functions of the epoch's number and its values.
        on_batch_begin, on_batch_end: functions of the batch's number and its values.
        on_train_begin, on_train_end: functions of the values.
        kwargs: further methods of Callback by name, such as `on_predict_end`.
    """

    def __init__(
        self, on_epoch_begin: Callable[..., object] | None = None, on_epoch_end: Callable[..., object] | None = None,
        on_batch_begin: Callable[..., object] | None = None, on_batch_end: Callable[..., object] | None = None,
        on_train_begin: Callable[..., object] | None = None, on_train_end: Callable[..., object] | None = None,
        **kwargs: Options,
    ) -> None:  # fmt: skip
        super().__init__()
        given = {
            "on_epoch_begin": on_epoch_begin, "on_epoch_end": on_epoch_end, "on_batch_begin": on_batch_begin,
            "on_batch_end": on_batch_end, "on_train_begin": on_train_begin, "on_train_end": on_train_end, **kwargs,
        }  # fmt: skip
        for name, function in given.items():
            if function is not None or name in kwargs:
                setattr(self, name, function)
