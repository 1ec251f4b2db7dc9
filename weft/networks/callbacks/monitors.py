"""The callbacks that watch a value or the clock of training: stopping, saving, learning rates, files of values."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable
from typing import IO

import numpy as np

from weft.framework.building.aliases import Array
from weft.networks.callbacks.callback import Callback, Logs
from weft.networks.config import KerasObject, Options
from weft.networks.state.sessions import batch_get_value, batch_set_value
from weft.platform.logs import tf_logging


class _Monitor(Callback):
    """What watches one value of each epoch: whether less or more of it is better, and the best so far."""

    def __init__(self, monitor: str, mode: str, min_delta: float = 0.0) -> None:
        super().__init__()
        if mode not in ("auto", "min", "max"):
            tf_logging.warning("%s mode %s is unknown, fallback to auto mode.", type(self).__name__, mode)
            mode = "auto"
        self.monitor = monitor
        is_more_better = mode == "max" or (mode == "auto" and ("acc" in monitor or monitor.startswith("fmeasure")))
        self.sign = 1.0 if is_more_better else -1.0
        self.min_delta = abs(min_delta)
        self.best = -math.inf * self.sign

    def value(self, logs: Logs | None) -> float | None:
        """The value of an epoch; None, with a warning, when there is none of this name.

        Args:
            logs: the epoch's values by name.
        """
        found = (logs or {}).get(self.monitor)
        if found is None:
            tf_logging.warning(
                "%s conditioned on metric `%s` which is not available. Available metrics are: %s",
                type(self).__name__, self.monitor, ",".join(logs or {}),
            )  # fmt: skip
        return found

    def is_better(self, value: float) -> bool:
        """Whether a value is better than the best so far, by more than `min_delta`.

        Args:
            value: the monitored value of an epoch.
        """
        return (value - self.best) * self.sign > self.min_delta


class EarlyStopping(_Monitor):
    """Stops training when a value has not become better for `patience` epochs.

    Args:
        monitor: the value's name.
        min_delta: how much better is better.
        patience: how many epochs may pass.
        verbose: whether to tell of it.
        mode: "min", "max", or "auto" by the name.
        baseline: a value to be better than from the beginning.
        restore_best_weights: whether the weights of the best epoch come back at the end.
    """

    def __init__(
        self, monitor: str = "val_loss", min_delta: float = 0, patience: int = 0, verbose: int = 0, mode: str = "auto",
        baseline: float | None = None, restore_best_weights: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(monitor, mode, min_delta)
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights = restore_best_weights
        self.wait, self.stopped_epoch = 0, 0
        self.best_weights: list[Array] | None = None

    def get_monitor_value(self, logs: Logs | None) -> float | None:
        """The value that is watched; None, with a warning, when an epoch has none of its name.

        Args:
            logs: the epoch's values by name.
        """
        return self.value(logs)

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Begin to wait."""
        self.wait, self.stopped_epoch = 0, 0
        self.best = -math.inf * self.sign if self.baseline is None else self.baseline

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Look at the epoch's value."""
        value = self.get_monitor_value(logs)
        if value is None:
            return
        if self.is_better(value):
            self.best, self.wait = value, 0
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            return
        self.wait += 1
        if self.wait >= self.patience:
            self.stopped_epoch = epoch
            self.model.stop_training = True
            if self.restore_best_weights and self.best_weights is not None:
                self.model.set_weights(self.best_weights)

    def on_train_end(self, logs: Logs | None = None) -> None:
        """Tell of it."""
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1:05d}: early stopping")


class ModelCheckpoint(_Monitor):
    """Saves the model after epochs, or its weights.

    Args:
        filepath: the file, or the prefix of a checkpoint of weights, in which `{epoch}` and the values' names are filled in.
        monitor: the value that tells the best epoch.
        verbose: whether to tell of it.
        save_best_only: whether only better epochs are saved.
        save_weights_only: whether `save_weights` is called rather than `save`, which writes HDF5.
        mode: "min", "max", or "auto" by the name.
        save_freq: "epoch", or after how many examples to save.
        kwargs: `period`, every how many epochs to save; `load_weights_on_restart`, whether training begins with the weights of
            the file if it is there.

    Raises:
        ValueError: `save_freq` is neither "epoch" nor a number.
    """

    def __init__(
        self, filepath: str, monitor: str = "val_loss", verbose: int = 0, save_best_only: bool = False,
        save_weights_only: bool = False, mode: str = "auto", save_freq: int | str = "epoch", **kwargs: Options,
    ) -> None:  # fmt: skip
        super().__init__(monitor, mode)
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: {save_freq}")
        self.filepath, self.verbose, self.save_best_only = filepath, verbose, save_best_only
        self.save_weights_only, self.save_freq = save_weights_only, save_freq
        self.period = kwargs.pop("period", 1)
        self.load_weights_on_restart = kwargs.pop("load_weights_on_restart", False)
        self.passed, self.examples, self.epoch = 0, 0, 0

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Begin with the weights of the file, if that is asked for."""
        if self.load_weights_on_restart and (os.path.exists(self.filepath) or os.path.exists(f"{self.filepath}.index")):
            self.model.load_weights(self.filepath)

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Note the epoch."""
        self.epoch = epoch

    def on_train_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Save, if enough examples have been seen."""
        if self.save_freq == "epoch":
            return
        self.examples += (logs or {}).get("size", 1)
        if self.examples >= int(self.save_freq):
            self.examples = 0
            self._save(logs)

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Save, if it is time."""
        self.passed += 1
        if self.save_freq == "epoch" and self.passed >= self.period:
            self.passed = 0
            self._save(logs)

    def _save(self, logs: Logs | None) -> None:
        values = {"epoch": self.epoch + 1, **(logs or {})}
        try:
            path = self.filepath.format(**values)
        except KeyError as lacking:
            raise KeyError(
                f"ModelCheckpoint: the filepath {self.filepath!r} asks for {lacking}, and an epoch has {', '.join(values)}. "
                "Values that begin with val_ come with validation_data."
            ) from None
        if self.save_best_only:
            value = self.value(logs)
            if value is None or not self.is_better(value):
                return
            self.best = value
        if self.verbose > 0:
            print(f"\nEpoch {self.epoch + 1:05d}: saving model to {path}")
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)


class LearningRateScheduler(Callback):
    """Sets the learning rate before each epoch: `schedule(epoch)`, or `schedule(epoch, rate)`.

    Args:
        schedule: a function of the epoch's number from 0, and of the present rate if it takes two arguments.
        verbose: 1 to print each new rate.
    """

    def __init__(self, schedule: Callable[..., float], verbose: int = 0) -> None:
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Set the rate; ValueError when the schedule gives no float."""
        rate = _rate_of(self.model)
        try:
            wanted = self.schedule(epoch, float(batch_get_value([rate])[0]))
        except TypeError:
            wanted = self.schedule(epoch)
        if not isinstance(wanted, float | np.floating):
            raise ValueError(
                f'The output of the "schedule" function should be float. For the epoch {epoch} it is {wanted!r}: the learning '
                "rate is wanted, such as 0.1."
            )
        batch_set_value([(rate, np.asarray(wanted))])
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: LearningRateScheduler reducing learning rate to {wanted}.")

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Report the rate."""
        if logs is not None:
            logs["lr"] = float(batch_get_value([_rate_of(self.model)])[0])


def _rate_of(model: KerasObject) -> KerasObject:
    if not hasattr(model.optimizer, "lr"):
        raise ValueError('Optimizer must have a "lr" attribute.')
    return model.optimizer.lr


class ReduceLROnPlateau(_Monitor):
    """Makes the learning rate smaller when a value has not become better for `patience` epochs.

    Args:
        monitor: the name of the value.
        factor: what the rate is multiplied by, below 1.
        patience: how many epochs to wait for a better value.
        verbose: 1 to print each new rate.
        mode: "min", "max", or "auto" to tell by the value's name.
        min_delta: how much better counts as better.
        cooldown: for how many epochs afterwards nothing is counted.
        min_lr: the least rate.
        kwargs: `epsilon`, an older name of `min_delta`.

    Raises:
        ValueError: `factor` is 1 or more.
    """

    def __init__(
        self, monitor: str = "val_loss", factor: float = 0.1, patience: int = 10, verbose: int = 0, mode: str = "auto",
        min_delta: float = 1e-4, cooldown: int = 0, min_lr: float = 0, **kwargs: Options,
    ) -> None:  # fmt: skip
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0.")
        super().__init__(monitor, mode, kwargs.pop("epsilon", min_delta))
        self.factor, self.patience, self.verbose, self.cooldown, self.min_lr = factor, patience, verbose, cooldown, min_lr
        self.wait, self.cooling = 0, 0

    def in_cooldown(self) -> bool:
        """Whether the rate was made smaller less than `cooldown` epochs ago."""
        return self.cooling > 0

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Look at the epoch's value."""
        rate = _rate_of(self.model)
        old = float(batch_get_value([rate])[0])
        if logs is not None:
            logs["lr"] = old
        value = self.value(logs)
        if value is None:
            return
        if self.cooling > 0:
            self.cooling -= 1
            self.wait = 0
        if self.is_better(value):
            self.best, self.wait = value, 0
        elif self.cooling <= 0:
            self.wait += 1
            if self.wait >= self.patience and old > self.min_lr:
                batch_set_value([(rate, np.asarray(max(old * self.factor, self.min_lr)))])
                self.cooling, self.wait = self.cooldown, 0


class TerminateOnNaN(Callback):
    """Stops training when the loss is no finite number."""

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Look at the loss."""
        loss = (logs or {}).get("loss")
        if loss is not None and not math.isfinite(loss):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


class CSVLogger(Callback):
    """Writes the values of each epoch as a line of a CSV file.

    Args:
        filename: the file.
        separator: what stands between values.
        append: whether lines are added to a file that is there; else it is written anew.
    """

    def __init__(self, filename: str, separator: str = ",", append: bool = False) -> None:
        super().__init__()
        self.filename, self.separator, self.append = filename, separator, append
        self._file: IO[str] | None = None
        self._names: list[str] | None = None

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Open the file."""
        self._file = open(self.filename, "a" if self.append else "w", newline="", encoding="utf-8")  # noqa: SIM115
        self._names = None

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Write a line, and the names before the first."""
        assert self._file is not None
        writer = csv.writer(self._file, delimiter=self.separator)
        if self._names is None:
            self._names = sorted(logs or {})
            if not self._file.tell():
                writer.writerow(["epoch", *self._names])
        writer.writerow([epoch, *((logs or {}).get(name, "NA") for name in self._names)])
        self._file.flush()

    def on_train_end(self, logs: Logs | None = None) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
