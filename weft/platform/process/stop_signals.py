"""Signals that come some time before a process is killed: a preempted job may save what it has and end by itself.

A scheduler that takes a node back, or whose time limit is near, sends SIGTERM or what it was told to, and SIGKILL some time
later. `weft task` names the signals to be taken so in the environment; without that they do what they always did.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Mapping
from types import FrameType
from typing import Final

VARIABLE: Final = "WEFT_STOP_SIGNALS"
"""Names the signals, such as `SIGTERM,SIGUSR1`."""
GRACE_VARIABLE: Final = "WEFT_STOP_GRACE_S"
"""Says how many seconds after the signal the process has; 25 without it."""
_GRACE_S: Final = 25.0
# A step that waits for a task which has left already does not end; the rest of the time is for saving.
_STEP_SHARE: Final = 0.2


class StopSignals:
    """Takes note of the signals from `arm` to `disarm`, which the main thread calls; elsewhere it does nothing.

    The first signal is noted. If the step that it met has not ended after a fifth of the grace, the main thread leaves it by a
    SystemExit. Signals for which the program has a handler of its own are the program's.

    Args:
        environment: which signals, and how long the grace is.

    Raises:
        ValueError: the environment names what is no signal, or no seconds.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        names = [each.strip() for each in environment.get(VARIABLE, "").split(",") if each.strip()]
        try:
            self._numbers = [signal.Signals[name] for name in names]
        except KeyError as error:
            raise ValueError(f"{VARIABLE} should name signals, such as 'SIGTERM,SIGUSR1': there is no {error}") from None
        text = environment.get(GRACE_VARIABLE, str(_GRACE_S))
        try:
            self.grace_s = float(text)
        except ValueError:
            self.grace_s = math.nan
        if not 0 <= self.grace_s < math.inf:
            raise ValueError(f"{GRACE_VARIABLE} should be seconds, and is {text!r}")
        self._armed: list[signal.Signals] = []
        self._noted: signal.Signals | None = None
        self._due_s = math.inf
        self._is_leaving = False
        self._timer: threading.Timer | None = None

    @property
    def is_wanted(self) -> bool:
        """Whether the environment names signals."""
        return bool(self._numbers)

    @property
    def exit_code(self) -> int:
        """What the process should end with: 128 and the signal's number, as shells have it; 0 while none has come."""
        return 0 if self._noted is None else 128 + self._noted

    @property
    def name(self) -> str:
        """What the signal is called; empty while none has come."""
        return "" if self._noted is None else self._noted.name

    @property
    def is_overdue(self) -> bool:
        """Whether a signal has come and the grace is over."""
        return time.monotonic() >= self._due_s

    def arm(self) -> None:
        """Take the signals that nobody has a handler for."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in self._numbers:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self._note)
                self._armed.append(number)

    def disarm(self) -> None:
        """Give the signals back."""
        self._is_leaving = True
        if self._timer is not None:
            self._timer.cancel()
        if threading.current_thread() is threading.main_thread():
            for number in self._armed:
                signal.signal(number, signal.SIG_DFL)
            self._armed.clear()

    def begin_leaving(self) -> None:
        """From now on the main thread is on its way out, and is not interrupted."""
        self._is_leaving = True

    def _note(self, number: int, _: FrameType | None) -> None:
        if self._noted is None:
            self._noted = signal.Signals(number)
            self._due_s = time.monotonic() + self.grace_s
            self._timer = threading.Timer(self.grace_s * _STEP_SHARE, self._signal_again)
            self._timer.daemon = True
            self._timer.start()
        elif not self._is_leaving and time.monotonic() >= self._due_s - self.grace_s * (1 - _STEP_SHARE):
            self._is_leaving = True
            raise SystemExit(self.exit_code)

    def _signal_again(self) -> None:
        if not self._is_leaving and self._noted is not None:
            os.kill(os.getpid(), self._noted)
