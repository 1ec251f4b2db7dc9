"""Objects by name and by config: the program's own classes and functions, and how both become plain data and back."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from weft.framework.building.aliases import Nest
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.networks.config import Config, GivenConfig
from weft.platform.hints.spelling import did_you_mean

_CUSTOM: Final[Config] = {}


def get_custom_objects() -> Config:
    """The table of the program's own classes and functions, which may be changed."""
    return _CUSTOM


class CustomObjectScope:
    """A block in which further names mean the program's own objects.

    Args:
        args: tables of classes and functions by name.
    """

    def __init__(self, *args: Mapping[str, object]) -> None:
        self._tables = args
        self._before: Config = {}

    def __enter__(self) -> CustomObjectScope:
        self._before = dict(_CUSTOM)
        for table in self._tables:
            _CUSTOM.update(table)
        return self

    def __exit__(self, *exc_info: object) -> None:
        _CUSTOM.clear()
        _CUSTOM.update(self._before)


def custom_object_scope(*args: Mapping[str, object]) -> CustomObjectScope:
    """A block in which further names mean the program's own objects.

    Args:
        args: tables of classes and functions by name.
    """
    return CustomObjectScope(*args)


@contextmanager
def _with_objects(custom_objects: Mapping[str, object] | None) -> Iterator[None]:
    with CustomObjectScope(custom_objects or {}):
        yield


def serialize_keras_object(instance: Nest) -> Nest:
    """The config of an object with `get_config`, the name of a function; ValueError for anything else.

    Args:
        instance: an object, a function, or None for None.
    """
    if instance is None:
        return None
    if hasattr(instance, "get_config"):
        config = {key: plain(value) for key, value in instance.get_config().items()}
        return {"class_name": type(instance).__name__, "config": config}
    if hasattr(instance, "__name__"):
        return instance.__name__
    raise ValueError("Cannot serialize", instance)


def plain(value: Nest) -> Nest:
    """A value of a config as plain data."""
    if isinstance(value, DType):
        return value.name
    if isinstance(value, TensorShape):
        return tuple(value.as_list())
    if inspect.isfunction(value) or (hasattr(value, "get_config") and not isinstance(value, type)):
        return serialize_keras_object(value)
    return value


def deserialize_keras_object(
    identifier: Nest,
    module_objects: Mapping[str, object] | None = None,
    custom_objects: Mapping[str, object] | None = None,
    printable_module_name: str = "object",
) -> Nest:
    """The object that a config or a name stands for; ValueError when nobody knows it.

    Args:
        identifier: a name, a dict of `class_name` and `config`, a function, or None for None.
        module_objects: the known classes and functions by name.
        custom_objects: the program's own ones, which go first.
        printable_module_name: what such an object is called in messages.
    """
    if identifier is None:
        return None
    if isinstance(identifier, Mapping):
        return _from_config(identifier, module_objects or {}, custom_objects, printable_module_name)
    if isinstance(identifier, str):
        found = _named(identifier, module_objects or {}, custom_objects)
        if found is None:
            known = {**(module_objects or {}), **_CUSTOM, **(custom_objects or {})}
            meant = did_you_mean(identifier, known) or _told_by_custom_objects(identifier)
            raise ValueError(f"Unknown {printable_module_name}:{identifier}.{meant}")
        return found() if inspect.isclass(found) else found
    if inspect.isfunction(identifier):
        return identifier
    raise ValueError(f"Could not interpret serialized {printable_module_name}: {identifier}")


def _named(name: str, module_objects: Mapping[str, object], custom_objects: Mapping[str, object] | None) -> Nest:
    for table in (custom_objects or {}, _CUSTOM, module_objects):
        if table.get(name) is not None:
            return table[name]
    return None


def _nearest_name(name: str, known: Mapping[str, object]) -> str:
    meant = did_you_mean(name, known)
    return f".{meant or _told_by_custom_objects(name)}"


def _told_by_custom_objects(name: str) -> str:
    """What to do for an object of the program's own."""
    return f" An object of the program's own is told by custom_objects={{{name!r}: {name}}}."


def _from_config(
    config: GivenConfig,
    module_objects: Mapping[str, object],
    custom_objects: Mapping[str, object] | None,
    printable_module_name: str,
) -> Nest:
    if "class_name" not in config or "config" not in config:
        raise ValueError(f"Improper config format: {config}")
    name = config["class_name"]
    kind = _named(name, module_objects, custom_objects)
    if kind is None:
        raise ValueError(f"Unknown {printable_module_name}: {name}{_nearest_name(name, module_objects)}")
    with _with_objects(custom_objects):
        if not hasattr(kind, "from_config"):
            return kind(**config["config"])
        takes_objects = "custom_objects" in inspect.signature(kind.from_config).parameters
        if takes_objects:
            return kind.from_config(config["config"], custom_objects={**_CUSTOM, **(custom_objects or {})})
        return kind.from_config(config["config"])


def getter(module_objects: Mapping[str, object], what: str) -> Callable[[Nest], Nest]:
    """A function that takes a name, a config, a class, an object or None, and gives the object, or None for None."""

    def get(identifier: Nest) -> Nest:
        """The object that a name, a config, or itself stands for.

        Args:
            identifier: a name, a config, a class, a callable, or None for None.

        Raises:
            ValueError: it is none of these, or nobody knows the name.
        """
        if identifier is None:
            return None
        if isinstance(identifier, str | Mapping):
            return deserialize_keras_object(identifier, module_objects, printable_module_name=what)
        if inspect.isclass(identifier):
            return identifier()
        if callable(identifier):
            return identifier
        raise ValueError(f"Could not interpret {what} identifier: {identifier}")

    return get


def deserializer(module_objects: Mapping[str, object], what: str, argument: str = "config") -> Callable[..., Nest]:
    """A function that makes an object of its config or name, which is its argument of the name given."""

    def deserialize(config: Nest, custom_objects: Mapping[str, object] | None = None) -> Nest:
        """The object that a config or a name stands for.

        Args:
            config: a name, or a dict of `class_name` and `config`.
            custom_objects: further classes and functions by name.
        """
        return deserialize_keras_object(config, module_objects, custom_objects, what)

    return deserialize if argument == "config" else renamed_argument(deserialize, "config", argument)


def serializer(argument: str) -> Callable[..., Nest]:
    """A function like `serialize_keras_object`, whose argument has another name, as each kind of objects has its own."""

    def serialize(instance: Nest) -> Nest:
        """The config of an object with `get_config`, the name of a function.

        Args:
            instance: an object, a function, or None for None.

        Raises:
            ValueError: it is anything else.
        """
        return serialize_keras_object(instance)

    return renamed_argument(serialize, "instance", argument)


def renamed_argument(function: Callable[..., Nest], name: str, argument: str) -> Callable[..., Nest]:
    """A function whose first argument has another name, also where programs look at its signature."""

    @functools.wraps(function)
    def called(*args: Nest, **kwargs: Nest) -> Nest:
        if argument in kwargs:
            kwargs[name] = kwargs.pop(argument)
        return function(*args, **kwargs)

    signature = inspect.signature(function)
    first, *rest = signature.parameters.values()
    called.__signature__ = signature.replace(parameters=[first.replace(name=argument), *rest])  # type: ignore[attr-defined]
    called.__doc__ = (function.__doc__ or "").replace(f"{name}:", f"{argument}:")
    return called
