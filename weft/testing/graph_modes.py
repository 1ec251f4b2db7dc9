"""Decorators of tensorflow.python.framework.test_util, for tests that TensorFlow runs with and without graphs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TypeAlias

from weft.framework.building.aliases import Nest
from weft.testing.test_case import TestCase

# A test, or the decorator of one.
Test: TypeAlias = Callable[..., Nest]


def run_in_graph_and_eager_modes(
    func: Callable[..., object] | None = None, config: object = None, use_gpu: bool = True, reset_test: bool = True,
    assert_no_eager_garbage: bool = False,
) -> Test:  # fmt: skip
    """Let a test's method run in a graph with a session.

    Args:
        func: the method; None where the decorator has arguments.
        config: the session's ConfigProto.
        use_gpu: whether accelerators may be used.
        reset_test: whether each run starts with `setUp`; there is one run.
        assert_no_eager_garbage: of the run without a graph, which there is none of.

    Returns:
        The method, or the decorator.

    Raises:
        ValueError: `func` is a class.
    """

    def decorated(method: Callable[..., object]) -> Callable[..., object]:
        if inspect.isclass(method):
            raise ValueError(
                "`run_in_graph_and_eager_modes` only supports test methods. Did you mean to use "
                "`run_all_in_graph_and_eager_modes`?"
            )

        @functools.wraps(method)
        def run(self: TestCase, *args: object, **kwargs: object) -> None:
            with self.test_session(use_gpu=use_gpu, config=config):
                method(self, *args, **kwargs)

        return run

    return decorated if func is None else decorated(func)


def run_all_in_graph_and_eager_modes(cls: type[TestCase]) -> type[TestCase]:
    """Let all tests of a class run in a graph with a session."""
    for name, method in list(vars(cls).items()):
        if name.startswith("test") and name != "test_session" and callable(method):
            setattr(cls, name, run_in_graph_and_eager_modes(method))
    return cls


def run_deprecated_v1(func: Callable[..., object]) -> Callable[..., object]:
    """The test as it is: it runs with the first version of the API, as all do."""
    return func


def run_v1_only(reason: str, func: Callable[..., object] | None = None) -> Test:
    """The test as it is: it runs with the first version of the API, as all do.

    Args:
        reason: why it does not run with the second.
        func: the method or class; None where the decorator stands with its reason alone.

    Returns:
        The test, or the decorator.
    """
    return run_deprecated_v1 if func is None else func
