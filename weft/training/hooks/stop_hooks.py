"""Hooks that end training: at a step, or when the loss is no number."""

from __future__ import annotations

import numpy as np

from weft.client.session import Session
from weft.framework.nodes.built_at import place
from weft.framework.nodes.operation import Tensor
from weft.platform.hints.argument_checks import check_arguments
from weft.platform.logs import tf_logging
from weft.training.coordinator import Coordinator
from weft.training.hooks.global_step_read import global_step_read
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from weft.training.training_util import counting_step


class StopAtStepHook(SessionRunHook):
    """Asks to stop after a number of steps, or at a step.

    Args:
        num_steps: steps to make in this session.
        last_step: the global step to stop at, whoever makes the steps.

    Raises:
        ValueError: both or neither are given.

    >>> step = tf.train.get_or_create_global_step()
    >>> add = step.assign_add(1)
    >>> with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(num_steps=2)]) as session:
    ...     while not session.should_stop():
    ...         print(session.run(add))
    1
    2
    """

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if num_steps is None and last_step is None:
            raise ValueError(
                "One of num_steps or last_step must be specified: StopAtStepHook(num_steps=100) stops after 100 further "
                "steps, StopAtStepHook(last_step=100) when the global step is 100."
            )
        if num_steps is not None and last_step is not None:
            raise ValueError(
                f"Only one of num_steps or last_step can be specified. Got num_steps={num_steps} and last_step={last_step}."
            )
        check_arguments(StopAtStepHook.__init__, num_steps=num_steps, last_step=last_step)
        self._num_steps = num_steps
        self._last_step = last_step

    @property
    def last_step(self) -> int | None:
        """The global step to stop at; None before the first session, when it was told a number of steps."""
        return self._last_step

    def begin(self) -> None:
        """Find the global step."""
        self._global_step_tensor = global_step_read("StopAtStepHook")

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Count from the step at which the first session starts."""
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = session.run(self._global_step_tensor) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the global step."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Stop when the last step was made."""
        assert self._last_step is not None
        # What the run fetched may be from before its update: look again, but only when it matters.
        if run_values.results + 1 < self._last_step:
            return
        if run_context.session.run(self._global_step_tensor) >= self._last_step:
            run_context.request_stop()


class NanLossDuringTrainingError(RuntimeError):
    """Raised by NanTensorHook; its argument, if it has one, tells which tensor was NaN, and when."""

    def __str__(self) -> str:
        return " ".join(["NaN loss during training.", *map(str, self.args)])


class NanTensorHook(SessionRunHook):
    """Ends training when the loss is NaN.

    Args:
        loss_tensor: the loss, a scalar.
        fail_on_nan_loss: raise NanLossDuringTrainingError, rather than ask to stop.
    """

    def __init__(self, loss_tensor: Tensor | str, fail_on_nan_loss: bool = True) -> None:
        check_arguments(NanTensorHook.__init__, loss_tensor=loss_tensor)
        self._loss_tensor = loss_tensor
        self.loss: float | None = None
        """The loss of the last run that it looked at."""
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the loss."""
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Look at the loss."""
        self.loss = float(run_values.results)
        if not np.isnan(run_values.results):
            return
        message = "Model diverged with loss = NaN."
        which = f"{self._name} is NaN{_step_of(run_context)}."
        if self._fail_on_nan_loss:
            tf_logging.error(message)
            raise NanLossDuringTrainingError(f"{which} {_REMEDY}")
        tf_logging.warning("%s %s", message, which)
        run_context.request_stop()

    @property
    def _name(self) -> str:
        tensor = self._loss_tensor
        line = place(tensor.op.built_from) if isinstance(tensor, Tensor) else ""
        return f"{getattr(tensor, 'name', tensor)}{f' ({line})' if line else ''}"


_REMEDY = "A smaller learning rate or tf.clip_by_global_norm may help; tf.add_check_numerics_ops() finds the op that made it."


def _step_of(run_context: SessionRunContext) -> str:
    step = counting_step(run_context.session.graph)
    return "" if step is None else f", with the global step at {run_context.session.run(step)}"
