"""Progress on the terminal: Progbar, and the callback that draws it."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from weft.networks.callbacks.callback import Callback, Logs


class Progbar:
    """A line that tells how far a loop is, and the means of some values.

    Args:
        target: how many steps there are; None when nobody knows.
        width: how wide the bar is, in characters.
        verbose: 1 for a bar, 2 for one line at the end, 0 for nothing.
        interval: how many seconds pass between two drawings, at least.
        stateful_metrics: the names of values to show as they are, rather than their means.
        unit_name: what a step is called.
    """

    def __init__(
        self, target: int | None, width: int = 30, verbose: int = 1, interval: float = 0.05,
        stateful_metrics: Collection[str] | None = None, unit_name: str = "step",
    ) -> None:  # fmt: skip
        self.target, self.width, self.verbose, self.interval, self.unit_name = target, width, verbose, interval, unit_name
        self.stateful_metrics = set(stateful_metrics or ())
        self.is_live = (hasattr(sys.stdout, "isatty") and sys.stdout.isatty()) or "ipykernel" in sys.modules
        self.sums: dict[str, tuple[float, float]] = {}
        self.drawn, self.seen, self.began, self.last = 0, 0, time.time(), 0.0

    def update(self, current: int, values: Sequence[tuple[str, Any]] | None = None) -> None:
        """Be at step `current`, with values of the steps since the last time.

        Args:
            current: how many steps are done.
            values: names with the values to show: the mean over the steps, or the last one of those in `stateful_metrics`.
        """
        for name, value in values or ():
            if name in self.stateful_metrics:
                self.sums[name] = (float(value), 1)
            else:
                steps = max(current - self.seen, 1)
                total, count = self.sums.get(name, (0.0, 0))
                self.sums[name] = (total + float(value) * steps, count + steps)
        self.seen = current
        now = time.time()
        is_done = self.target is not None and current >= self.target
        if self.verbose == 1 and (is_done or now - self.last >= self.interval):
            self._draw(current, now, is_done)
            self.last = now
        elif self.verbose == 2 and is_done:
            passed = int(now - self.began)
            done = f"{current}/{self.target} - " if self.target is not None else ""
            sys.stdout.write(f"{done}{passed}s{self._values()}\n")
            sys.stdout.flush()

    def add(self, n: int, values: Sequence[tuple[str, Any]] | None = None) -> None:
        """Be `n` steps further.

        Args:
            n: how many steps more are done.
            values: as for `update`.
        """
        self.update(self.seen + n, values)

    def _values(self) -> str:
        parts = []
        for label, (total, count) in self.sums.items():
            mean = total / max(1, count)
            parts.append(f" - {label}: {mean:.4f}" if abs(mean) > 1e-3 else f" - {label}: {mean:.4e}")
        return "".join(parts)

    def _bar(self, current: int) -> str:
        if self.target is None:
            return f"{current:7d}/Unknown"
        digits = int(np.log10(max(self.target, 1))) + 1
        filled = int(self.width * current / self.target)
        if filled <= 0:
            bar = "." * self.width
        else:
            bar = "=" * (filled - 1) + (">" if current < self.target else "=") + "." * (self.width - filled)
        return f"{current:{digits}d}/{self.target} [{bar}]"

    def _draw(self, current: int, now: float, is_done: bool) -> None:
        passed = now - self.began
        each = passed / current if current else 0.0
        if self.target is not None and not is_done:
            left = f" - ETA: {_clock(each * (self.target - current))}"
        else:
            left = f" - {passed:.0f}s {_short(each)}/{self.unit_name}"
        line = self._bar(current) + left + self._values()
        start = "\r" if self.is_live else "\n" if self.drawn else ""
        sys.stdout.write(f"{start}{line.ljust(self.drawn) if self.is_live else line}")
        if is_done:
            sys.stdout.write("\n")
        self.drawn = len(line)
        sys.stdout.flush()


def _clock(seconds: float) -> str:
    if seconds > 3600:
        return f"{int(seconds // 3600)}:{int(seconds % 3600 // 60):02d}:{int(seconds % 60):02d}"
    return f"{int(seconds // 60)}:{int(seconds % 60):02d}" if seconds > 60 else f"{int(seconds)}s"


def _short(seconds: float) -> str:
    if seconds >= 1 or seconds == 0:
        return f"{seconds:.0f}s"
    return f"{seconds * 1e3:.0f}ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f}us"


class ProgbarLogger(Callback):
    """Draws a Progbar for each epoch.

    Args:
        count_mode: whether it counts "samples" or "steps".
        stateful_metrics: the names of values to show as they are.

    Raises:
        ValueError: another `count_mode`.
    """

    def __init__(self, count_mode: str = "samples", stateful_metrics: Collection[str] | None = None) -> None:
        super().__init__()
        if count_mode not in ("samples", "steps"):
            raise ValueError(f"Unknown `count_mode`: {count_mode}")
        self.use_steps = count_mode == "steps"
        self.stateful_metrics = set(stateful_metrics or ())
        self.bar: Progbar | None = None
        self.seen = 0

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Begin a bar."""
        if self.params["verbose"] and self.params["epochs"] > 1:
            print(f"Epoch {epoch + 1}/{self.params['epochs']}")
        self._begin()

    def _begin(self) -> None:
        self.seen = 0
        target = self.params["steps"] if self.use_steps else self.params["samples"]
        unit = "step" if self.use_steps else "sample"
        self.bar = Progbar(target, verbose=self.params["verbose"], stateful_metrics=self.stateful_metrics, unit_name=unit)

    def _step(self, logs: Logs | None) -> None:
        found = logs or {}
        if self.bar is None:
            self._begin()
        assert self.bar is not None
        self.seen += found.get("num_steps", 1) if self.use_steps else found.get("size", 0)
        values = [(name, found[name]) for name in self.params["metrics"] if name in found]
        if self.params["verbose"] and (self.bar.target is None or self.seen < self.bar.target):
            self.bar.update(self.seen, values)

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Move the bar."""
        self._step(logs)

    def on_test_begin(self, logs: Logs | None = None) -> None:
        """Begin a bar."""
        self._begin()

    def on_test_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Move the bar."""
        self._step(logs)

    def on_predict_begin(self, logs: Logs | None = None) -> None:
        """Begin a bar."""
        self._begin()

    def on_predict_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Move the bar."""
        self._step(logs)

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Finish the bar."""
        found = logs or {}
        if self.bar is None or not self.params["verbose"]:
            return
        if self.bar.target is None:
            self.bar.target = self.seen
        # The epoch's own values take the place of what the batches summed up to.
        values = [(name, found[name]) for name in self.params["metrics"] if name in found]
        self.bar.stateful_metrics.update(name for name, _ in values)
        self.bar.update(max(self.seen, self.bar.target), values)
