"""tf.compat.v1 is weft."""

from __future__ import annotations

import pytest
import weft.compat.v1 as tf1

import weft as tf


def test_every_name_is_there() -> None:
    assert tf1.Session is tf.Session
    assert tf.compat.v1.train.Saver is tf.train.Saver
    assert set(dir(tf1)) >= set(dir(tf))


def test_a_missing_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        _ = tf1.no_such_name


def test_programs_that_turn_the_second_version_off_run_on() -> None:
    tf1.disable_v2_behavior()
    tf1.disable_eager_execution()
    assert not tf1.executing_eagerly()


def test_turning_it_on_says_what_to_do_instead() -> None:
    with pytest.raises(NotImplementedError, match=r"tf\.Session\(\)\.run"):
        tf1.enable_eager_execution()


def test_version_probes_see_a_first_version() -> None:
    assert tf.VERSION == tf.__version__ == tf.version.VERSION
    assert tuple(int(part) for part in tf.VERSION.split(".")[:2]) == (1, 15)
    assert isinstance(tf.__git_version__, str)
