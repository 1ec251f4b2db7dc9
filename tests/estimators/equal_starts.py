"""Variables that begin alike in weft and in TensorFlow, which was asked for the numbers of the estimators' tests."""

from __future__ import annotations

from typing import Any

import numpy as np

import weft as tf


class SetAll(tf.train.SessionRunHook):  # type: ignore[misc]
    """Gives each trainable variable values by its size and the length of its name."""

    def begin(self) -> None:
        self._ops = [variable.assign(tf.constant(_value(variable))) for variable in tf.trainable_variables()]

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._ops)


def _value(variable: Any) -> Any:
    shape = variable.shape.as_list()
    return 0.5 * np.cos(np.arange(int(np.prod(shape))) + len(variable.op.name)).reshape(shape).astype(np.float32)
