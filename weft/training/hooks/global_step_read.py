"""The global step as hooks read it: one tensor for all of them, made before the graph is closed."""

from __future__ import annotations

from typing import Any

from weft.training.training_util import global_step_reading


class StepReading:
    """The step that a run has made, from the value of the global step that the run fetched.

    The fetched value is from before the run's update or from after it: nothing orders the two. TensorFlow reads as the step
    begins, weft where the node stands in the program; which of them it is shows whenever the step is read again after a run.
    """

    def __init__(self) -> None:
        self._is_after = False

    def made(self, fetched: Any) -> Any:
        """The step that the run has made, when it trained alone."""
        return fetched if self._is_after else fetched + 1

    def note(self, fetched: Any, read_later: Any) -> None:
        """Learn from a run that fetched one value, after which the step was read once more."""
        self._is_after = bool(fetched == read_later)


def global_step_read(hook: str) -> Any:
    """A tensor with the global step's value, as it was at some moment of the run that fetches it.

    Args:
        hook: the class of the hook that needs it.

    Raises:
        RuntimeError: the graph has no global step, or several such tensors.
    """
    read = global_step_reading()
    if read is None:
        raise RuntimeError(
            f"Global step should be created to use {hook}. Call tf.train.get_or_create_global_step() while the graph is built, "
            "and give it to minimize(loss, global_step=...)."
        )
    return read
