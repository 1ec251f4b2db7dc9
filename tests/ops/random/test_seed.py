"""Seeds: what counts as one."""

from __future__ import annotations

import pytest

import weft as tf


def test_a_seed_with_a_fraction_is_cut_off_and_told(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        cut, whole = session.run([tf.random_normal([2], seed=1.5), tf.random_normal([2], seed=1)])
    assert cut.tolist() == whole.tolist()
    assert caplog.text.count("The seed 1.5 is no whole number: 1 is taken") == 1


def test_a_whole_seed_is_taken_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    with tf.Graph().as_default():
        tf.set_random_seed(2.0)  # type: ignore[arg-type]
        tf.random_normal([2], seed=1)
    assert "no whole number" not in caplog.text
