"""Module: an object that owns variables and other modules, which it finds in its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar, Final

from weft.framework.attribute_tracking import NoDependency
from weft.framework.building.graph_functions import name_scope
from weft.framework.graphs.graph import get_default_graph
from weft.framework.types.printed import printed
from weft.ops.variables.variable import Variable

_Path = tuple[object, ...]
_Key = Callable[[tuple[str, object]], str]
_IGNORED: Final = "_TF_MODULE_IGNORED_PROPERTIES"


class Module:
    """A named collection of variables and modules.

    >>> class Line(tf.Module):
    ...     def __init__(self):
    ...         super().__init__(name="line")
    ...         self.slope = tf.Variable(2.0, name="slope")
    ...     def __call__(self, x):
    ...         with self.name_scope:
    ...             return tf.multiply(x, self.slope, name="y")
    >>> line = Line()
    >>> line(tf.constant(3.0)).name
    'line/y:0'
    >>> [variable.name for variable in line.trainable_variables]
    ['slope:0']

    Args:
        name: a Python identifier; the name of the class in small letters when None.

    Raises:
        ValueError: the name is no identifier.
    """

    # Attributes that `variables` and `submodules` do not look into.
    _TF_MODULE_IGNORED_PROPERTIES: ClassVar[frozenset[str]] = frozenset()

    __repr__ = printed("tf")

    def __init__(self, name: str | None = None) -> None:
        name = _snake_case(type(self).__name__) if name is None else name
        if not name.isidentifier():
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. a valid class name)."
            )
        self._name = name
        with get_default_graph().name_scope(name) as scope:
            self._scope_name = scope

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, NoDependency):
            vars(self).setdefault("_left_out", set()).add(name)
            value = value.value
        object.__setattr__(self, name, value)

    def _no_dependency(self, value: object) -> object:
        """What an attribute is set to whose value `value` is not for checkpoints.

        Args:
            value: what the attribute then is.
        """
        return NoDependency(value)

    @property
    def name(self) -> str:
        """The name that it was given, or that of its class in small letters."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """The name scope of this module, to build in by `with module.name_scope:`."""
        return name_scope(self._scope_name)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of this module and of those in it, by the sorted names of attributes."""
        return tuple(each for each in self._flatten(predicate=_is_variable) if isinstance(each, Variable))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Those of `variables` that are trained."""
        return tuple(each for each in self.variables if each.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules in this one, and those in them."""
        return tuple(each for each in self._flatten() if isinstance(each, Module))

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[object], bool] | None = None,
        attribute_traversal_key: _Key | None = None,
        with_path: bool = False,
    ) -> Iterator[object]:
        """The values in the attributes for which `predicate` holds, each once; with paths, once for each path.

        Args:
            recursive: look into modules, too.
            predicate: says which values are wanted; all when None.
            attribute_traversal_key: the key by which attributes are sorted, of `(name, value)`.
            with_path: give pairs of the path to a value, names and keys, and the value.
        """
        wanted = predicate or (lambda _: True)
        seen: set[int] = set()
        for path, value in _walk(self, recursive, wanted, attribute_traversal_key, (id(self),), ()):
            if with_path:
                yield path, value
            elif id(value) not in seen:
                seen.add(id(value))
                yield value

    @classmethod
    def with_name_scope(cls, method: Callable[..., object]) -> Callable[..., object]:
        """Let a method build in the module's name scope; for use as a decorator.

        Args:
            method: the method.

        Returns:
            The method, which builds in the scope whenever it is called.
        """

        @functools.wraps(method)
        def scoped(self: Module, *args: object, **kwargs: object) -> object:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped

    def checkpoint_dependencies(self) -> list[tuple[str, object]]:
        """What checkpoints of objects save: the attributes that are variables, modules, layers, optimizers, lists or dicts."""
        left_out = vars(self).get("_left_out", ())
        return [
            (name, value)
            for name, value in vars(self).items()
            if name not in left_out and (isinstance(value, Variable | list | dict) or hasattr(value, "checkpoint_dependencies"))
        ]


def _walk(
    module: Module,
    recursive: bool,
    wanted: Callable[[object], bool],
    key: _Key | None,
    around: tuple[int, ...],
    prefix: _Path,
) -> Iterator[tuple[_Path, object]]:
    """The wanted values of one module in the order of its attributes, then those of the modules among its values."""
    inner: list[tuple[_Path, Module]] = []
    for name, attribute in sorted(vars(module).items(), key=key or _by_name):
        if name in getattr(module, _IGNORED):
            continue
        for path, value in _leaves(attribute, ()):
            if id(value) in around:
                continue
            if wanted(value):
                yield (*prefix, name, *path), value
            if recursive and isinstance(value, Module):
                inner.append(((*prefix, name, *path), value))
    for path, each in inner:
        yield from _walk(each, recursive, wanted, key, (*around, id(each)), path)


def _by_name(attribute: tuple[str, object]) -> str:
    return attribute[0]


def _leaves(value: object, path: _Path) -> Iterator[tuple[_Path, object]]:
    """What is in a structure of lists, tuples and dicts, with its keys; dicts in the order of their keys."""
    items: Iterable[tuple[object, object]]
    if isinstance(value, dict):
        items = sorted(value.items()) if all(isinstance(key, str) for key in value) else value.items()
    elif isinstance(value, list | tuple):
        items = zip(getattr(value, "_fields", range(len(value))), value, strict=True)
    else:
        yield path, value
        return
    for key, item in items:
        yield from _leaves(item, (*path, key))


def _is_variable(value: object) -> bool:
    return isinstance(value, Variable)


def _snake_case(name: str) -> str:
    parted = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", parted).lower()
