"""Stubs replace attributes and give them back."""

from __future__ import annotations

import pytest

import weft as tf


class _Base:
    limit = 1

    @staticmethod
    def double(number: int) -> int:
        return 2 * number


class _Derived(_Base):
    pass


def test_what_was_replaced_comes_back() -> None:
    with tf.test.StubOutForTesting() as stubs:
        stubs.Set(_Base, "double", lambda number: 0)
        stubs.SmartSet(_Derived, "limit", 5)
        assert _Base.double(3) == 0
        assert _Base.limit == 5
        assert repr(stubs) == "<tf.test.StubOutForTesting of ['double', 'limit']>"
    assert _Base.double(3) == _Base().double(3) == 6
    assert (_Base.limit, "limit" in vars(_Derived)) == (1, False)
    with pytest.raises(AttributeError, match="has no 'missing' to replace"):
        stubs.SmartSet(_Base, "missing", 1)


def test_tests_ask_what_weft_was_built_with() -> None:
    assert not tf.test.is_built_with_rocm()
    assert tf.test.is_built_with_gpu_support() == tf.test.is_gpu_available()
