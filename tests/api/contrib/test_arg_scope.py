"""arg_scope: defaults for the arguments of functions."""

from __future__ import annotations

import pytest

import weft as tf

framework = tf.contrib.framework


@framework.add_arg_scope
def shown(a, b=1, c=2):
    """What it was called with."""
    return a, b, c


def test_gives_defaults_that_calls_may_override():
    with framework.arg_scope([shown], b=5):
        assert shown(0) == (0, 5, 2)
        assert shown(0, b=6) == (0, 6, 2)
        with framework.arg_scope([shown], c=7):
            assert shown(0) == (0, 5, 7)
        assert shown(0) == (0, 5, 2)
    assert shown(0) == (0, 1, 2)


def test_a_scope_that_was_kept_holds_alone():
    with framework.arg_scope([shown], b=5) as kept:
        pass
    with framework.arg_scope([shown], c=9), framework.arg_scope(kept):
        assert shown(0) == (0, 5, 2)


def test_refuses_functions_that_take_no_part():
    with pytest.raises(ValueError, match="not decorated with @add_arg_scope"), framework.arg_scope([len], a=1):
        pass
    with pytest.raises(TypeError, match="list/tuple or reused scope"), framework.arg_scope(shown, b=1):
        pass
    with pytest.raises(ValueError, match="kwargs must be empty"), framework.arg_scope({}, b=1):
        pass
    assert framework.has_arg_scope(shown)
    assert framework.arg_scoped_arguments(shown) == ("b", "c")
