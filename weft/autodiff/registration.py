"""Giving op types a gradient from outside their declaration: RegisterGradient and NotDifferentiable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.framework.registry.op_registry import register_gradient


class RegisterGradient:
    """A decorator that makes a function the gradient of an op type, or of a name for `Graph.gradient_override_map`.

    The function takes the Operation and one gradient per output, and returns one gradient (or None) per input.

    Args:
        op_type: the type or name.

    Raises:
        TypeError: it is no text.
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Callable[..., object]) -> Callable[..., Any]:
        """Register `f`; KeyError when the op type has a gradient already."""
        register_gradient(self._op_type, f)
        return f


def NotDifferentiable(op_type: str) -> None:
    """Say that ops of this type have no gradient: what they depend on gets none through them.

    Args:
        op_type: the type, such as "Floor".

    Raises:
        TypeError: it is no text.
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    register_gradient(op_type, None)
