"""Functions as the second version of the API calls them: those of weft with other arguments, in another order.

`forms.txt` has a line for each: its name below `tf.compat.v2`, and its arguments in order, with defaults. An argument has the
name that weft's function knows it by; `name>other` where that is another one, and `name>` where there is none. `!name=value` is
what weft's function gets besides, and `name>other` before the arguments says which function that is, where it is not the one of
that name. An argument that is None is left to weft's default.
"""

from __future__ import annotations

import ast
import pkgutil
from collections.abc import Callable
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path
from typing import Final

from weft.framework.types.dtypes import as_dtype

_TABLE: Final = Path(__file__).with_name("forms.txt")
_TYPES: Final = ("dtype", "out_type", "output_type")


@cache
def table() -> dict[str, str]:
    """The arguments of each form, as `forms.txt` writes them, by its name below `tf.compat.v2`."""
    lines = _TABLE.read_text(encoding="utf-8").splitlines()
    return {line.partition(" ")[0].partition(">")[0]: line for line in lines}


def attribute(path: str) -> str:
    """The name in this module of the form of that path."""
    return path.replace(".", "_")


def __getattr__(name: str) -> Callable[..., object]:
    path = next((each for each in table() if attribute(each) == name), None)
    if path is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _form(path)


@cache
def _form(path: str) -> Callable[..., object]:
    head, *words = table()[path].split()
    target = pkgutil.resolve_name(f"weft:{head.partition('>')[2] or path}")
    fixed = {key: ast.literal_eval(value) for key, _, value in (word[1:].partition("=") for word in words if word[0] == "!")}
    own_names: dict[str, str] = {}
    parameters = []
    for word in words:
        if word[0] != "!":
            name, has_default, default = word.partition("=")
            name, is_renamed, own = name.partition(">")
            own_names[name] = own if is_renamed else name
            value = ast.literal_eval(default) if has_default else Parameter.empty
            value = as_dtype(value) if name in _TYPES and isinstance(value, str) else value
            parameters.append(Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=value))
    signature = Signature(parameters)

    def form(*args: object, **kwargs: object) -> object:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{form.__name__}() {error}") from None
        bound.apply_defaults()
        given = {own_names[key]: value for key, value in bound.arguments.items() if own_names[key] and value is not None}
        result: object = target(**given, **fixed)
        return result

    form.__name__ = path.rpartition(".")[2]
    form.__qualname__ = form.__name__
    own_path = head.partition(">")[2] or path
    form.__doc__ = f"`tf.{own_path}` with the arguments of the second version of the API:\n\n{target.__doc__}"
    vars(form)["__signature__"] = signature
    return form
