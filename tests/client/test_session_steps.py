"""How much time a session gives what it asks of its backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import weft as tf
from weft.client.session_steps import SessionSteps
from weft.platform.waits.deadline import left_s


class Asked:
    """A backend that takes note of the time that it is given for each thing."""

    def __init__(self) -> None:
        self.preparing: list[float | None] = []
        self.around: list[float | None] = []
        self.options: list[tf.RunOptions | None] = []

    def prepare(self, feeds: Any, fetches: Any, targets: Any, timeout_s: float | None = None) -> Asked:
        self.preparing.append(timeout_s)
        self.around.append(left_s())
        return self

    def run(self, feeds: Sequence[Any], options: tf.RunOptions | None = None) -> tuple[list[Any], None]:
        self.options.append(options)
        return [1.0], None


def run(config: tf.ConfigProto, options: tf.RunOptions | None) -> Asked:
    backend: Any = Asked()
    with tf.Graph().as_default() as graph:
        steps = SessionSteps(graph, config, backend)
        plan, values = steps.look_up(tf.constant(1.0), None, options)
        steps.run(plan, values, options)
    found: Asked = backend
    return found


@pytest.mark.parametrize("options", [None, tf.RunOptions(), tf.RunOptions(timeout_in_ms=3000)])
def test_what_comes_before_a_step_takes_nothing_from_its_time(options: tf.RunOptions | None) -> None:
    asked = run(tf.ConfigProto(operation_timeout_in_ms=2000), options)
    assert asked.options == [options]
    assert asked.preparing == [3.0 if options is not None and options.timeout_in_ms else 2.0]
    # Nothing limits it all together.
    assert asked.around == [None]


def test_without_a_limit_nothing_has_one() -> None:
    asked = run(tf.ConfigProto(), None)
    assert (asked.options, asked.preparing) == ([None], [None])
