"""The checks of ops find what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft.framework.registry import op_registry
from weft.ops.declaration import op, same_as_input
from weft.testing import op_checks
from weft.testing.op_checks import Case

X = np.array([1.0, 2.0], np.float32)


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A place for declarations that the test leaves nothing of behind."""
    op_registry.registered()  # what is declared late is declared before
    monkeypatch.setattr(op_registry, "_REGISTRY", dict(op_registry._REGISTRY))


def _declare(infer: Any = same_as_input, gradient: Any = None, numpy_only: float = 0.0) -> None:
    @op("Probe", "x: T -> y: T", infer=infer, gradient=gradient)
    def probe(xp, x):
        """Twice the input."""
        return x * 2 + (numpy_only if xp is np else 0.0)


def test_right_op_passes(declared: None) -> None:
    _declare(gradient=lambda node, grad: [grad * 2])
    case = Case("Probe", [X], expected=lambda x: x * 2)
    for check in (
        op_checks.check_reference, op_checks.check_compiled, op_checks.check_shapes, op_checks.check_gradient,
    ):  # fmt: skip
        check(case)


def test_wrong_value_is_found(declared: None) -> None:
    _declare()
    with pytest.raises(AssertionError):
        op_checks.check_reference(Case("Probe", [X], expected=lambda x: x * 3))


def test_difference_between_interpreted_and_compiled_is_found(declared: None) -> None:
    _declare(numpy_only=0.1)
    with pytest.raises(AssertionError):
        op_checks.check_compiled(Case("Probe", [X]))


def test_wrong_shape_is_found(declared: None) -> None:
    _declare(infer=lambda node: [(3,)])
    with pytest.raises(AssertionError, match="inferred"):
        op_checks.check_shapes(Case("Probe", [X]))


def test_shape_that_says_less_than_it_could_is_found(declared: None) -> None:
    _declare(infer=lambda node: [(None,)])
    with pytest.raises(AssertionError, match="of inputs that are fully known"):
        op_checks.check_shapes(Case("Probe", [X]))


def test_wrong_gradient_is_found(declared: None) -> None:
    _declare(gradient=lambda node, grad: [grad * 3])
    with pytest.raises(AssertionError):
        op_checks.check_gradient(Case("Probe", [X]))
