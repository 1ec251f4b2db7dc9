"""tf.raw_ops: every op type as a function of its own name that takes keyword arguments only."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft.framework.aliases import Nest, TensorLike
from weft.framework.op_builder import build
from weft.framework.op_def import REQUIRED, OpDef
from weft.framework.op_registry import is_registered, lookup, registered
from weft.ops.declaration import signature_of, unpack_outputs


@functools.cache
def _function(definition: OpDef) -> Callable[..., Any]:
    names = [arg.name for arg in definition.inputs]
    signature = signature_of(definition)
    needed = [each.name for each in signature.parameters.values() if each.default is each.empty or each.default is REQUIRED]

    def add(*given: object, name: str | None = None, **arguments: TensorLike) -> Nest:
        if given:
            raise TypeError(
                f"{definition.name} only takes keyword args (possible keys: {list(signature.parameters)}). Please pass these "
                "args as kwargs instead."
            )
        if missing := [repr(key) for key in needed if key not in arguments]:
            raise TypeError(
                f"{definition.name}() missing {len(missing)} required positional argument{'s' if len(missing) > 1 else ''}: "
                f"{' and '.join(missing)}"
            )
        if unknown := next((key for key in arguments if key not in names and key not in definition.attrs), None):
            raise TypeError(f"{definition.name}() got an unexpected keyword argument {unknown!r}")
        node = build(definition, [arguments.pop(key) for key in names], arguments, name)
        return unpack_outputs(node) if definition.outputs else node

    add.__name__ = add.__qualname__ = definition.name
    add.__signature__ = signature  # type: ignore[attr-defined]
    add.__doc__ = definition.kernel.__doc__
    return add


def __getattr__(name: str) -> Callable[..., Any]:
    if name.startswith("_") or not is_registered(name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: there is no such op type")
    return _function(lookup(name))


def __dir__() -> list[str]:
    return [definition.name for definition in registered() if not definition.name.startswith("_")]
