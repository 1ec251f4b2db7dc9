"""Decorators of tensorflow.python.framework.test_util that say where and how a test runs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TypeAlias

from weft.testing.environment import is_gpu_available
from weft.testing.graph_modes import Test
from weft.testing.test_case import TestCase

Method: TypeAlias = Callable[..., object]


def skip_if(condition: bool | Callable[[], bool]) -> Callable[[Method], Method]:
    """Skip a test where a condition holds.

    Args:
        condition: a bool, or a function that is asked as the test begins.

    Returns:
        The decorator of the test's method.
    """

    def decorated(method: Method) -> Method:
        @functools.wraps(method)
        def run(self: TestCase, *args: object, **kwargs: object) -> None:
            if not (condition() if callable(condition) else condition):
                method(self, *args, **kwargs)

        return run

    return decorated


def _only_if(holds: Callable[[], bool], reason: str, func: Method | None) -> Test:
    def decorated(method: Method) -> Method:
        if inspect.isclass(method):
            raise ValueError(f"a test's method is decorated, not the class {method.__name__}")

        @functools.wraps(method)
        def run(self: TestCase, *args: object, **kwargs: object) -> None:
            if not holds():
                self.skipTest(reason)
            method(self, *args, **kwargs)

        return run

    return decorated if func is None else decorated(func)


def run_gpu_only(func: Method | None = None) -> Test:
    """Skip a test where there is no GPU.

    Args:
        func: the test's method; None where the decorator is called first.

    Returns:
        The method, or the decorator.
    """
    return _only_if(is_gpu_available, "Test requires GPU", func)


def run_v2_only(func: Method | None = None) -> Test:
    """Skip a test that asks for the second version of the API.

    Args:
        func: the test's method; None where the decorator is called first.

    Returns:
        The method, or the decorator.
    """
    return _only_if(lambda: False, "Test is only compatible with v2", func)


def for_all_test_methods(decorator: Callable[..., Callable[[Method], Method]], *args: object, **kwargs: object) -> Test:
    """Give all tests of a class a decorator.

    Args:
        decorator: it is called with the arguments and returns what takes a method.
        *args, **kwargs: the decorator's.

    Returns:
        The decorator of the class.
    """

    def decorated(cls: type[TestCase]) -> type[TestCase]:
        for name, method in list(vars(cls).items()):
            if name.startswith("test") and name != "test_session" and callable(method):
                setattr(cls, name, decorator(*args, **kwargs)(method))
        return cls

    return decorated


def as_it_is(func: Method | None = None) -> Test:
    """The test as it is, for what TensorFlow changes about a test that weft has one way of: functions,
    control flow, cuDNN, garbage.

    Args:
        func: the test's method or class; None where the decorator is called first.

    Returns:
        The method, or the decorator.
    """
    return (lambda method: method) if func is None else func


def described(description: str) -> Callable[[Method], Method]:
    """The test as it is, for TensorFlow's settings of XLA by test: weft compiles by XLA in any case.

    Args:
        description: why the setting is asked for.

    Returns:
        The decorator of the test's method.
    """
    return lambda method: method


def is_xla_enabled() -> bool:
    """Whether tests are compiled by TensorFlow's flag for it: no, weft compiles without one, and tests need not differ."""
    return False
