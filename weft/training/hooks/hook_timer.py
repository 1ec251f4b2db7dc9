"""Timers by which hooks decide at which steps to act."""

from __future__ import annotations

import time

from weft.framework.types.printed import printed
from weft.platform.hints.argument_checks import check_arguments


class SecondOrStepTimer:
    """Triggers at the first step, and then after so many seconds or so many steps.

    A host's clock that is set meanwhile changes nothing: one that was set back by an hour kept checkpoints back for as long.

    Args:
        every_secs: seconds between two triggers.
        every_steps: steps between them, instead.

    Raises:
        ValueError: both or neither are given.
    """

    __repr__ = printed("tf.train")

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if every_secs is None and every_steps is None:
            raise ValueError(
                "Either every_secs or every_steps should be provided. Hooks that save take them as save_secs and save_steps."
            )
        if every_secs is not None and every_steps is not None:
            raise ValueError(
                f"Can not provide both every_secs and every_steps. Got {every_secs} seconds and {every_steps} steps."
            )
        check_arguments(SecondOrStepTimer.__init__, every_secs=every_secs, every_steps=every_steps)
        self._every_secs = every_secs
        self._every_steps = every_steps
        self.reset()

    def reset(self) -> None:
        """Start over, as if it had never triggered."""
        self._last_triggered_step: int | None = None
        self._last_triggered_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether to act at a step. Says no to a step at which it triggered.

        Args:
            step: the global step.
        """
        last_step, last_time = self._last_triggered_step, self._last_triggered_time
        if last_step is None or last_time is None:
            return True
        if step == last_step:
            return False
        if self._every_secs is not None:
            return time.monotonic() >= last_time + self._every_secs
        assert self._every_steps is not None
        return bool(step >= last_step + self._every_steps)

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Note that it triggered; gives the seconds and steps since the last time, None and None at the first.

        Args:
            step: the global step at which it triggered.

        Returns:
            Seconds as a float, and steps as an int.
        """
        now = time.monotonic()
        elapsed: tuple[float | None, int | None] = (None, None)
        if self._last_triggered_time is not None and self._last_triggered_step is not None:
            elapsed = now - self._last_triggered_time, step - self._last_triggered_step
        self._last_triggered_time, self._last_triggered_step = now, step
        return elapsed

    def last_triggered_step(self) -> int | None:
        """The step at which it triggered last, or None."""
        return self._last_triggered_step


class NeverTriggerTimer:
    """Never triggers."""

    def reset(self) -> None:
        """Nothing."""

    def should_trigger_for_step(self, step: int) -> bool:
        """Says no."""
        return False

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Notes nothing."""
        return None, None

    def last_triggered_step(self) -> int | None:
        """None."""
        return None
