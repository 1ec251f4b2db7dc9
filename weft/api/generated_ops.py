"""Op types as functions of TensorFlow's `gen_*_ops` modules: `add` takes positional arguments, `Add` is `raw_ops.Add`."""

from __future__ import annotations

import functools
import typing  # whose `Any` would hide the op of that name
from collections.abc import Callable

from weft.api import raw_ops
from weft.framework.building.aliases import Nest
from weft.framework.registry.op_registry import lookup, registered
from weft.ops.declaration import signature_of


@functools.cache
def _function(op_type: str) -> Callable[..., typing.Any]:
    keys = list(signature_of(lookup(op_type)).parameters)
    add = getattr(raw_ops, op_type)

    @functools.wraps(add)
    def call(*given: object, **named: object) -> Nest:
        if len(given) > len(keys):
            raise TypeError(f"{op_type} takes {len(keys)} arguments, {keys}, but {len(given)} were given")
        return add(**dict(zip(keys, given, strict=False)), **named)

    return call


def function_of(name: str) -> Callable[..., Nest] | None:
    """The function of an op type whose name in small letters is `name`; None if there is no such type."""
    found = "" if name.startswith("_") else _by_letters(len(registered())).get(name.replace("_", ""), "")
    return _function(found) if found else None


def __getattr__(name: str) -> Callable[..., typing.Any]:
    function = getattr(raw_ops, name, None) if name[:1].isupper() else function_of(name)
    if function is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: there is no such op type")
    return function


@functools.cache
def _by_letters(count: int) -> dict[str, str]:
    """The op types by their letters alone; made anew when there are more of them."""
    return {each.name.lower().replace("_", ""): each.name for each in registered() if not each.name.startswith("_")}
