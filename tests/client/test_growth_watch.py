"""A program that adds operations in a loop of runs is told which of its lines does it."""

from __future__ import annotations

import logging

import pytest

import weft as tf
from tests.client.conftest import OpenSession
from weft.client.growth_watch import PATIENCE


def add_one(x: tf.Tensor) -> tf.Tensor:
    return x + 1.0


def test_a_loop_that_adds_operations_is_named_once(open_session: OpenSession, caplog: pytest.LogCaptureFixture) -> None:
    session = open_session()
    x = tf.constant(1.0)
    with caplog.at_level(logging.WARNING, "weft"):
        for _ in range(PATIENCE):
            session.run(add_one(x))
        assert not caplog.records
        for _ in range(3 * PATIENCE):
            session.run(add_one(x))
    (record,) = caplog.records
    line = add_one.__code__.co_firstlineno + 1
    assert f'File "{__file__}", line {line}, in add_one has added operations' in record.getMessage()


def test_growth_that_is_no_loop_is_not_told(open_session: OpenSession, caplog: pytest.LogCaptureFixture) -> None:
    session = open_session()
    x = tf.constant(1.0)
    with caplog.at_level(logging.WARNING, "weft"):
        for _ in range(3 * PATIENCE):
            x = add_one(x)
        session.run(x)
        for _ in range(3 * PATIENCE):
            session.run(x)
        for run in range(PATIENCE):
            # Each of these is a line of its own.
            exec(compile("\n" * run + "session.run(tf.identity(x))", "cells", "exec"), {"session": session, "tf": tf, "x": x})
    assert not caplog.records
