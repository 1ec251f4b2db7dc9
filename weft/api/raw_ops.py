"""tf.raw_ops: every op type as a function of its own name that takes keyword arguments only."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft.framework.op_builder import build
from weft.framework.op_def import OpDef, is_registered, lookup, registered
from weft.ops.declaration import unpack_outputs


@functools.cache
def _function(definition: OpDef) -> Callable[..., Any]:
    names = [arg.name for arg in definition.inputs]

    def add(*, name: str | None = None, **arguments: Any) -> Any:
        missing = [key for key in names if key not in arguments]
        if missing:
            raise TypeError(f"{definition.name}() missing required keyword-only arguments: {', '.join(missing)}")
        node = build(definition, [arguments.pop(key) for key in names], arguments, name)
        return unpack_outputs(node) if definition.outputs else node

    add.__name__ = add.__qualname__ = definition.name
    add.__doc__ = definition.kernel.__doc__
    return add


def __getattr__(name: str) -> Callable[..., Any]:
    if name.startswith("_") or not is_registered(name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: there is no such op type")
    return _function(lookup(name))


def __dir__() -> list[str]:
    return [definition.name for definition in registered() if not definition.name.startswith("_")]
