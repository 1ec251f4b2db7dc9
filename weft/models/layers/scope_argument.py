"""The scope that TensorFlow gives a layer's or a cell's `call` which asks for one."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from weft.ops.variables.scopes import VariableScope


def scope_argument(call: Callable[..., object], scope: VariableScope) -> dict[str, VariableScope]:
    """The argument `scope` for a `call` that has one; nothing for others.

    Args:
        call: a method of a layer, or of a cell.
        scope: that in which its variables are made.
    """
    code = getattr(inspect.unwrap(call), "__code__", None)
    names = () if code is None else code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {"scope": scope} if "scope" in names else {}
