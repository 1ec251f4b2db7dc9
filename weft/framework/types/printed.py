"""The printed form of what users hold and print: the public name, the object's own name, and what it was made with.

A class takes it by one line, `__repr__ = printed("tf.layers")`. Arguments that were left at their defaults are left out.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final

import numpy as np

from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape

_LONGEST: Final = 60
_LONGEST_PATH: Final = 300
# What is said first, of each object of its kind, or at length.
_UNSAID: Final = frozenset(
    ("self", "name", "args", "kwargs", "dtype", "graph", "graph_parents", "scope", "name_scope", "key_dtype", "value_dtype")
)


def printed(door: str, state: Callable[[Any], str] | None = None, *, in_snake_case: bool = False) -> Callable[[object], str]:
    """The `__repr__` of a family of classes.

    Args:
        door: the public module that the classes are in; a class of a program's own goes by its name alone.
        state: tells, of an object, what it is doing now; "" says nothing.
        in_snake_case: whether the public names are those of the classes in snake case.
    """

    def form(of: object) -> str:
        kind = type(of)
        called = re.sub(r"(?<=.)([A-Z])", r"_\1", kind.__name__).lower() if in_snake_case else kind.__name__
        parts = [f"{door}.{called}" if kind.__module__.startswith("weft.") else kind.__name__]
        name = getattr(of, "name", None)
        if isinstance(name, str) and name:
            parts.append(repr(name))
        parts += [f"{key}={shown(value)}" for key, value in _settings(of).items()]
        told = state(of) if state is not None else ""
        return f"<{' '.join(parts)}{', ' if told and len(parts) > 1 else ' ' if told else ''}{told}>"

    form.is_short_inside = True  # type: ignore[attr-defined]
    return form


def shown(value: object) -> str:
    """A value in a few words: what it is called, rather than all that is in it."""
    if isinstance(value, str | bytes | os.PathLike):
        # A path that is cut short is none.
        return _short(repr(os.fspath(value)), _LONGEST_PATH)
    if isinstance(value, DType | Enum):
        return value.name
    if isinstance(value, np.ndarray):
        return str(value) if not value.shape else f"array of {value.dtype} {list(value.shape)}"
    if isinstance(value, Mapping):
        return _short("{" + ", ".join(f"{key!r}: {shown(each)}" for key, each in value.items()) + "}")
    if isinstance(value, list | tuple):
        ends = "[]" if isinstance(value, list) else "()"
        return _short(ends[0] + ", ".join(map(shown, value)) + ends[1])
    if value is None or isinstance(value, bool | int | float | complex | np.generic | TensorShape):
        return str(value)
    return _called(value)


def _called(value: object) -> str:
    kind, name = type(value), getattr(value, "name", None) or getattr(value, "__name__", None)
    if hasattr(kind.__repr__, "is_short_inside"):
        return f"{kind.__name__} {name!r}" if isinstance(name, str) else kind.__name__
    if kind.__repr__ is object.__repr__ or inspect.isroutine(value) or hasattr(value, "graph"):
        return name if isinstance(name, str) else kind.__name__
    return _short(repr(value))


def told_size(layer: Any) -> str:
    """How many numbers the variables of a layer or cell hold, once it has made them."""
    if not layer.built:
        return "not built"
    numbers = sum(int(variable.shape.num_elements() or 0) for variable in layer.variables)
    return f"{numbers:,} parameters" if numbers else ""


def _short(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else text[: most - 4] + "..." + text[-1]


def _held(of: object, name: str) -> object:
    """What an object keeps under a name, or under the private form of it; properties are not asked."""
    kept = getattr(of, "__dict__", {})
    return kept.get(name, kept.get(f"_{name}"))


def _settings(of: object) -> dict[str, object]:
    made_with: dict[str, object] = {}
    for kind in type(of).__mro__:
        if "__init__" not in vars(kind) or kind is object:
            continue
        parameters = inspect.signature(vars(kind)["__init__"]).parameters
        for name, parameter in parameters.items():
            if name in _UNSAID or name.startswith("_") or name.endswith("_initializer") or name in made_with:
                continue
            value = _held(of, name)
            if not _is_default(value, parameter.default):
                made_with[name] = value
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
            break
    return made_with


def _is_default(value: object, default: object) -> bool:
    if value is None or value is False or value is default:
        return True
    if isinstance(value, str | tuple | list | dict) and not value:
        return True
    if isinstance(value, np.ndarray) or hasattr(value, "graph"):
        return False
    # What an object keeps is often the default in another form: a number for each axis, an object for the name of its class.
    if isinstance(value, tuple) and all(each == default for each in value):
        return True
    if isinstance(default, str) and _plain(default) in (_plain(getattr(value, "__name__", "")), _plain(type(value).__name__)):
        return True
    if getattr(value, "__name__", "") == "linear" or value == "channels_last":
        return True
    return type(value) in (bool, int, float, str, tuple, list, dict) and value == default


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
