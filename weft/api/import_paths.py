"""Public modules under their import paths: `weft.nn` is `weft.api.nn`, and `weft.python...` has TensorFlow's own paths.

The engine's packages stand in `weft/`, the public names in `weft/api/`, and programs import both as `weft.NAME`. Each public
module is one object under both of its names: loading it twice would make two of what it holds.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

import weft.api
from weft.api.python_paths import ALIASES, NAMES

_PUBLIC: Final = frozenset(module.name for module in pkgutil.iter_modules(weft.api.__path__))


class _Alias(Loader):
    """Puts an existing module in the place of the one that was asked for."""

    def __init__(self, target: str) -> None:
        self._target = target

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to the import system, whose empty module `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = importlib.import_module(self._target)


class _Gathered(Loader):
    """Makes a module of names that live elsewhere, or a package of such modules."""

    def __init__(self, path: str) -> None:
        self._path = path

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to the import system."""

    def exec_module(self, module: ModuleType) -> None:
        for entry in NAMES.get(self._path, "").split():
            found = pkgutil.resolve_name(entry if ":" in entry else f"weft:{entry}")
            setattr(module, entry.replace(":", ".").rpartition(".")[2], found)
        for child in _children(self._path):
            setattr(module, child, importlib.import_module(f"{module.__name__}.{child}"))


class _PublicPaths(MetaPathFinder):
    """Finds the public modules; asked before the engine's folders, so that a submodule is not loaded a second time."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        package, _, rest = fullname.partition(".")
        if package != "weft" or not rest:
            return None
        door, _, inside = rest.partition(".")
        if door == "python":
            return _python_spec(fullname, inside)
        if door not in _PUBLIC or importlib.util.find_spec(f"weft.api.{rest}") is None:
            return None
        return ModuleSpec(fullname, _Alias(f"weft.api.{rest}"))


def _python_spec(fullname: str, path: str) -> ModuleSpec | None:
    if path in ALIASES:
        return ModuleSpec(fullname, _Alias(ALIASES[path]))
    is_package = bool(_children(path))
    if not is_package and path not in NAMES:
        return None
    return ModuleSpec(fullname, _Gathered(path), is_package=is_package)


def _children(path: str) -> list[str]:
    prefix = f"{path}." if path else ""
    below = [each.removeprefix(prefix) for each in (*ALIASES, *NAMES) if each.startswith(prefix)]
    return sorted({each.partition(".")[0] for each in below})


def install() -> None:
    """Make the public modules importable as `weft.NAME`; for `weft` itself, which calls it once."""
    sys.meta_path.insert(0, _PublicPaths())
