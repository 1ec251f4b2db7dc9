"""Public modules under their import paths: `weft.nn` is `weft.api.nn`; `weft.python...` and `weft.core...` have
TensorFlow's own paths.

The engine's packages stand in `weft/`, the public names in `weft/api/`, and programs import both as `weft.NAME`. Each public
module is one object under both of its names: loading it twice would make two of what it holds.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.abc import InspectLoader, Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Final

import weft.api
from weft.api import contrib_paths, core_paths, library_paths, missing_names, on_demand, python_paths
from weft.platform.imports.collections import no_collections
from weft.platform.imports.import_cost import import_cost

_DOORS: Final = on_demand.INNER.union(module.name for module in pkgutil.iter_modules(weft.api.__path__))


class _Table:
    """The modules below one path that are no files: those that stand for others, and those that gather names.

    Args:
        aliases: the module that a path stands for.
        names: the names that a path has, one by one.
        doors: the public modules whose names a path has, `.` for weft itself.
        with_op_types: the paths that have the functions of op types, too.
    """

    def __init__(
        self,
        aliases: Mapping[str, str] = MappingProxyType({}),
        names: Mapping[str, str] = MappingProxyType({}),
        doors: Mapping[str, str] = MappingProxyType({}),
        with_op_types: frozenset[str] = frozenset(),
    ) -> None:
        self.aliases = aliases
        self.names = names
        self.doors = doors
        self.with_op_types = with_op_types
        self.paths: Final = frozenset((*aliases, *names, *doors))

    def children(self, path: str) -> list[str]:
        """The modules in the package `path`, of which "" is the table's own."""
        prefix = f"{path}." if path else ""
        below = [each.removeprefix(prefix) for each in self.paths if each.startswith(prefix)]
        return sorted({each.partition(".")[0] for each in below if each})


_TABLES: Final = {
    "core": _Table(core_paths.ALIASES),
    "tools": _Table(names=core_paths.TOOLS),
    "python": _Table(python_paths.ALIASES, python_paths.NAMES, python_paths.DOORS, library_paths.WITH_OP_TYPES),
    "contrib.keras": _Table(contrib_paths.KERAS_ALIASES, doors=contrib_paths.KERAS_DOORS),
} | {
    f"contrib.{package}.python": _Table(names=contrib_paths.NAMES.get(package, {}), doors=doors)
    for package, doors in contrib_paths.DOORS.items()
}
_FURTHER: Final = _Table(doors=contrib_paths.FURTHER)
_FIRST: Final = "compat.v1."  # below it is what is below `weft`
_SECOND: Final = "compat.v2"


@cache
def _second_version() -> _Table:
    """The modules of the second version of the API, whose lists are read when a program asks for one."""
    paths = importlib.import_module("weft.api.second_version.paths")
    return _Table(paths.ALIASES, paths.NAMES)


def _table_of(rest: str) -> tuple[str, _Table] | None:
    """The table that a module's path below `weft` is in, and where that table begins."""
    prefix = next((each for each in (_SECOND, *_TABLES) if f"{rest}.".startswith(f"{each}.")), None)
    if prefix is None:
        return None
    return prefix, _second_version() if prefix == _SECOND else _TABLES[prefix]


def engine() -> ModuleType:
    """The module with the names of `weft` itself; the first call loads nearly all of weft."""
    loaded = sys.modules.get("weft.namespace")
    if loaded is not None:
        # While it is being loaded, too: Python knows who waits for whom.
        return importlib.import_module("weft.namespace")
    with no_collections(), import_cost.measured():
        return importlib.import_module("weft.namespace")


class Alias(Loader):
    """Puts an existing module in the place of the one that was asked for."""

    def __init__(self, target: str) -> None:
        self._target = target

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to the import system, whose empty module `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        found = importlib.import_module(self._target)
        path = module.__name__.removeprefix("weft.")
        if f"{path}.python" in _TABLES or _FURTHER.children(path):
            vars(found).setdefault("__path__", [])  # it has modules below it that are no files
        sys.modules[module.__name__] = found
        if path.partition(".")[0] in on_demand.PUBLIC:
            missing_names.watch_loaded()

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of the existing module, for `python -m`."""
        spec = importlib.util.find_spec(self._target)
        loader = None if spec is None else spec.loader
        if spec is None or not isinstance(loader, InspectLoader | Alias):
            return None
        # A module that is loaded has its own name in its spec.
        return loader.get_code(spec.name)


class _Gathering(ModuleType):
    """A package in which a function may have the name of a module below it, and keeps it when the module is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and isinstance(vars(self).get(name), FunctionType)):
            super().__setattr__(name, value)


class _Gathered(Loader):
    """Makes a module of names that live elsewhere, or a package of such modules."""

    def __init__(self, table: _Table, path: str) -> None:
        self._table = table
        self._path = path

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module in which functions hide modules."""
        return _Gathering(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        for child in self._table.children(self._path):
            setattr(module, child, importlib.import_module(f"{module.__name__}.{child}"))
        for entry in self._table.names.get(self._path, "").split():
            place, _, name = entry.partition("=")
            found = pkgutil.resolve_name(place if place.startswith("weft.") or ":" in place else f"weft:{place}")
            setattr(module, name or place.replace(":", ".").rpartition(".")[2], found)
        has_op_types = self._path in self._table.with_op_types
        if has_op_types or self._path in self._table.doors:
            _open_doors(module, self._table.doors.get(self._path, "").split(), has_op_types)
        missing_names.watch(module, module.__name__.removeprefix("weft."))


def _open_doors(module: ModuleType, doors: Sequence[str], has_op_types: bool) -> None:
    """Let a module have the public names of others, each looked up when it is asked for: most of weft is not loaded for it.

    Where TensorFlow has two versions of a function, its modules have `name_v1` or `name_v2` for what the public ones of that
    version call `name`. The functions of op types come last: a public function of the same name takes other arguments.
    """

    def tables(version: str = "") -> Iterator[Mapping[str, object]]:
        for door in doors:
            if version != "2":
                yield vars(engine() if door == "." else importlib.import_module(f"weft.{door}"))
            elif door == "." or door in _second_version().paths:
                yield vars(importlib.import_module(f"weft.{_SECOND}.{door}".rstrip(".")))

    def public() -> list[str]:
        return sorted({name for table in tables() for name in table if not name.startswith("_") and name != "annotations"})

    def find(name: str) -> object:
        if name == "__all__":  # asked by `from module import *`
            return public()
        if not name.startswith("_"):
            versioned = _VERSIONED.fullmatch(name)
            for table in tables():
                if name in table:
                    return table[name]
            if versioned is not None:
                found = next((table[versioned[1]] for table in tables(versioned[2]) if versioned[1] in table), None)
                if found is not None:
                    return found
            function = _op_function(name) if has_op_types else None
            if function is not None:
                return function
        missing_names.refuse(module, module.__name__.removeprefix("weft."), name)

    vars(module).update(__getattr__=find, __dir__=public)


_VERSIONED: Final = re.compile(r"(\w+?)_?[vV]([12])")


def _op_function(name: str) -> object:
    engine()  # it declares the ops
    return importlib.import_module("weft.api.generated_ops").function_of(name)


class _PublicPaths(MetaPathFinder):
    """Finds the public modules; asked before the engine's folders, so that a submodule is not loaded a second time."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        package, _, rest = fullname.partition(".")
        # Most are the engine's.
        if package != "weft" or rest.partition(".")[0] not in _DOORS:
            return None
        table = _table_of(rest)
        if table is not None:
            prefix = table[0]
            found = _spec_of(fullname, table[1], rest.removeprefix(prefix).removeprefix("."))
            if found is None:
                _check_advice(fullname, missing_names.advice(None, *_split(rest)) if prefix == _SECOND else _INNER)
            return found
        if rest in _FURTHER.paths or (_FURTHER.children(rest) and not _has_module(rest)):
            return _spec_of(fullname, _FURTHER, rest)
        if rest.startswith(_FIRST):
            return _first_version(fullname, rest.removeprefix(_FIRST))
        # A program that names only this module may use every op and gradient, too.
        engine()
        own = f"weft.api.{rest}"
        module = importlib.util.find_spec(own)
        if module is None:
            _check_advice(fullname, missing_names.advice(None, *_split(rest)))
            return None
        return ModuleSpec(fullname, Alias(own), is_package=module.submodule_search_locations is not None)


_INNER: Final = " weft has those of TensorFlow's inner modules that programs use; the public ones, below `tf`, have the rest."


def _first_version(fullname: str, rest: str) -> ModuleSpec | None:
    found = importlib.util.find_spec(f"weft.{rest}")
    if found is None:
        return None
    return ModuleSpec(fullname, Alias(f"weft.{rest}"), is_package=found.submodule_search_locations is not None)


def _check_advice(fullname: str, advice: str) -> None:
    """Raise what there is to say of a module that nobody has; without advice the other finders are asked."""
    if advice and importlib.util.find_spec(fullname.rpartition(".")[0]) is not None:
        raise ModuleNotFoundError(f"No module named {fullname!r}.{advice}", name=fullname)


def _split(path: str) -> tuple[str, str]:
    package, _, name = path.rpartition(".")
    return package, name


@cache
def _has_module(rest: str) -> bool:
    """Whether a public module of that path is a file or a folder."""
    path = Path(weft.api.__path__[0], *rest.split("."))
    return path.exists() or path.with_suffix(".py").exists()


def _spec_of(fullname: str, table: _Table, path: str) -> ModuleSpec | None:
    if path in table.aliases:
        return ModuleSpec(fullname, Alias(table.aliases[path]))
    is_package = bool(table.children(path))
    if not is_package and path not in table.paths:
        return None
    return ModuleSpec(fullname, _Gathered(table, path), is_package=is_package)


def install() -> None:
    """Make the public modules importable as `weft.NAME`; for `weft` itself, which calls it once."""
    sys.meta_path.insert(0, _PublicPaths())
