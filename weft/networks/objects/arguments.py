"""The arguments that an object was made with: resolved by their names, kept as attributes, and given back as a config."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from weft.networks.config import Config
from weft.networks.objects import activations, constraints, initializers, regularizers
from weft.networks.objects.registry import plain, serialize_keras_object

_F = TypeVar("_F", bound=Callable[..., None])
_RESOLVERS: Final[dict[str, Callable[[Any], Any]]] = {
    "initializer": initializers.get,
    "regularizer": regularizers.get,
    "constraint": constraints.get,
    "activation": activations.get,
}


def resolved(name: str, value: object) -> object:
    """An argument as the object that it names, if arguments of this name are such: `kernel_initializer`, `activation`."""
    resolver = _RESOLVERS.get(name.rpartition("_")[2])
    return value if resolver is None else resolver(value)


def keeps_arguments(init: _F) -> _F:
    """Let `__init__` take names and configs for objects, and keep its arguments for the config.

    The arguments become attributes too where the class sets none of that name; `**kwargs` are passed on as they are. Of the
    classes between an object's and its base only the outermost keeps them.
    """
    signature = inspect.signature(init)
    rest = next((each.name for each in signature.parameters.values() if each.kind is each.VAR_KEYWORD), None)

    @functools.wraps(init)
    def wrapper(self: Any, *args: object, **kwargs: object) -> None:
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            text = f"{error}".removeprefix("got ")
            verb = "got " if text.startswith(("multiple", "an unexpected")) else ""
            raise TypeError(f"{init.__qualname__}() {verb}{text}") from None
        bound.apply_defaults()
        own = {name: resolved(name, value) for name, value in list(bound.arguments.items())[1:] if name != rest}
        bound.arguments.update(own)
        is_outermost = not hasattr(self, "kept_arguments")
        if is_outermost:
            object.__setattr__(self, "kept_arguments", own)
        init(*bound.args, **bound.kwargs)
        for name, value in own.items():
            if not hasattr(self, name):
                setattr(self, name, value)

    return wrapper  # type: ignore[return-value]


def config_of(arguments: Mapping[str, object]) -> Config:
    """Kept arguments as plain data."""
    return {name: _config_value(name, value) for name, value in arguments.items()}


def _config_value(name: str, value: object) -> object:
    if name.rpartition("_")[2] in _RESOLVERS and value is not None:
        return serialize_keras_object(value)
    return plain(value)
