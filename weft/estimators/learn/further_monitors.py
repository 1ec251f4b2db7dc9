"""Monitors that keep values, watch for NaN, count steps and save, as contrib.learn's programs use them."""

from __future__ import annotations

import numpy as np

from weft.estimators.aliases import ByAnyKey
from weft.estimators.learn.monitors import EveryN
from weft.events.file_writer import FileWriter
from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.ops.variables.collections import trainable_variables
from weft.platform.logs import tf_logging
from weft.training.hooks.step_counter_hook import StepCounterHook
from weft.training.hooks.stop_hooks import NanLossDuringTrainingError
from weft.training.hooks.summary_hooks import SummarySaverHook
from weft.training.scaffold import Scaffold


class CaptureVariable(EveryN):
    """Keeps the value of a variable at some steps.

    Args:
        var_name: the variable's name, such as `w:0`.
        every_n: at how many steps from one value to the next.
        first_n: the first steps, all of which are kept.
    """

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self._values: dict[int, Nest] = {}

    @property
    def values(self) -> dict[int, Nest]:
        """The values by the steps at which they were read."""
        return self._values

    def every_n_step_begin(self, step: int) -> list[Nest]:
        """Fetch the variable."""
        super().every_n_step_begin(step)
        return [self._var_name]

    def every_n_step_end(self, step: int, outputs: ByAnyKey | None) -> bool:
        """Keep its value."""
        if outputs is not None:
            self._values[step] = outputs[self._var_name]
        return False


class NanLoss(EveryN):
    """Looks whether the loss is NaN, and stops training then.

    Args:
        loss_tensor: the loss.
        every_n_steps: at how many steps from one look to the next.
        fail_on_nan_loss: whether training fails; it only ends if False.
    """

    def __init__(self, loss_tensor: Tensor, every_n_steps: int = 100, fail_on_nan_loss: bool = True) -> None:
        super().__init__(every_n_steps)
        self._loss_tensor = loss_tensor
        self._fails = fail_on_nan_loss

    def every_n_step_begin(self, step: int) -> list[Nest]:
        """Fetch the loss."""
        super().every_n_step_begin(step)
        return [self._loss_tensor]

    def every_n_step_end(self, step: int, outputs: ByAnyKey | None) -> bool:
        """Whether to stop.

        Raises:
            NanLossDuringTrainingError: the loss is NaN, and training is to fail.
        """
        loss = None if outputs is None else outputs.get(self._loss_tensor, outputs.get(self._loss_tensor.name))
        if loss is None or not np.isnan(loss):
            return False
        if self._fails:
            tf_logging.error("Model diverged with loss = NaN.")
            raise NanLossDuringTrainingError
        tf_logging.warning("Model diverged with loss = NaN.")
        return True


class LoggingTrainable(EveryN):
    """Logs the values of the trainable variables.

    Args:
        scope: the variables whose names begin so; all when None.
        every_n: at how many steps from one line to the next.
        first_n: the first steps, all of which are logged.
    """

    def __init__(self, scope: str | None = None, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._scope = scope

    def every_n_step_begin(self, step: int) -> list[Nest]:
        """Fetch the variables."""
        super().every_n_step_begin(step)
        return [each.name for each in trainable_variables(self._scope)]

    def every_n_step_end(self, step: int, outputs: ByAnyKey | None) -> bool:
        """Log them."""
        told = [f"{name} = {value}" for name, value in (outputs or {}).items()]
        tf_logging.info("Logging Trainable: Step %d: %s", step, ", ".join(told))
        return False


def step_counter(
    every_n_steps: int = 100, output_dir: str | None = None, summary_writer: FileWriter | None = None
) -> StepCounterHook:
    """A hook that counts steps per second, in the place of the monitor that did.

    Args:
        every_n_steps: at how many steps from one value to the next.
        output_dir: where summaries are written.
        summary_writer: the writer; one of `output_dir` when None.
    """
    return StepCounterHook(every_n_steps, None, output_dir, summary_writer)


def summary_saver(
    summary_op: Nest, save_steps: int = 100, output_dir: str | None = None, summary_writer: FileWriter | None = None,
    scaffold: Scaffold | None = None,
) -> SummarySaverHook:  # fmt: skip
    """A hook that saves summaries, in the place of the monitor that did.

    Args:
        summary_op: the summaries, as a string tensor.
        save_steps: at how many steps from one to the next.
        output_dir: where they are written.
        summary_writer: the writer; one of `output_dir` when None.
        scaffold: the parts of the session that have summaries where `summary_op` is None.
    """
    return SummarySaverHook(save_steps, None, output_dir, summary_writer, scaffold, summary_op)
