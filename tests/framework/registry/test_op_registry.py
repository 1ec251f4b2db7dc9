"""Declarations are found by name, and declared once."""

from __future__ import annotations

from typing import Any

import pytest

import weft  # noqa: F401 - declares the ops
from weft.framework.op_types.op_role import Role
from weft.framework.registry import op_registry


def no_shape(op: Any) -> list[Any]:
    return [None]


@pytest.fixture(autouse=True)
def registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the registry, so that declarations of tests are forgotten."""
    op_registry.registered()  # what is declared late is declared before
    monkeypatch.setattr(op_registry, "_REGISTRY", dict(op_registry._REGISTRY))
    monkeypatch.setattr(op_registry, "_GRADIENTS", dict(op_registry._GRADIENTS))


def test_an_op_is_declared_once() -> None:
    def kernel(xp: Any, x: Any) -> Any: ...

    with pytest.raises(ValueError, match="Op 'Neg' is already declared"):
        op_registry.declare("Neg", "x: T -> y: T", kernel, infer=no_shape, gradient=None)


def test_an_op_that_is_not_there_is_told() -> None:
    assert not op_registry.is_registered("Nonesuch")
    with pytest.raises(LookupError, match="Op type not registered 'Nonesuch'"):
        op_registry.lookup("Nonesuch")


def test_gradients_are_registered_once() -> None:
    def gradient(op: Any, grad: Any) -> Any: ...

    op_registry.register_gradient("TestGradient", gradient)
    assert op_registry.lookup_gradient("TestGradient") is gradient
    for name in ("TestGradient", "Neg"):
        with pytest.raises(KeyError, match="Registering two gradient with name"):
            op_registry.register_gradient(name, gradient)
    with pytest.raises(LookupError, match="gradient registry has no entry for: TestNone"):
        op_registry.lookup_gradient("TestNone")


def test_all_declarations_are_listed_in_order() -> None:
    names = [definition.name for definition in op_registry.registered()]
    assert names == sorted(names)
    assert {"MatMul", "VariableV2", "Assign"} <= set(names)


def test_the_role_of_an_op_that_weft_does_not_have_is_a_computation() -> None:
    assert op_registry.role_of("Const") is Role.CONSTANT
    assert op_registry.role_of("OfAnotherVersion") is Role.COMPUTATION


def test_limits_of_what_is_no_attribute_are_refused() -> None:
    def kernel(x: Any, *, count: int) -> Any: ...

    with pytest.raises(ValueError, match=r"Op 'LimitsTest': limits of \['counts'\], which are none of its attributes"):
        op_registry.declare("LimitsTest", "x: T -> y: T", kernel, infer=no_shape, gradient=None, limits={"counts": 1})
