"""The modules distutils.version, distutils.util and imp, which Python 3.12 dropped, as far as programs use them."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Sequence
from functools import total_ordering
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


@total_ordering
class LooseVersion:
    """A version as numbers and words, which compare one after the other.

    Args:
        vstring: the version's text.
    """

    def __init__(self, vstring: str | None = None) -> None:
        self.vstring = ""
        self.version: list[int | str] = []
        if vstring is not None:
            self.parse(vstring)

    def parse(self, vstring: str) -> None:
        """Take another text."""
        parts = [part for part in re.split(r"(\d+|[a-z]+|\.)", vstring) if part and part != "."]
        self.vstring, self.version = vstring, [int(part) if part.isdigit() else part for part in parts]

    def __str__(self) -> str:
        return self.vstring

    def __repr__(self) -> str:
        return f"{type(self).__name__} ('{self}')"

    def _of(self, other: object) -> list[int | str]:
        return other.version if isinstance(other, LooseVersion) else LooseVersion(str(other)).version

    def __eq__(self, other: object) -> bool:
        return self.version == self._of(other)

    def __lt__(self, other: object) -> bool:
        # A number and a word do not compare in Python 3; here the word is the earlier one, as in 1.0rc1 and 1.0.1.
        def key(parts: list[int | str]) -> list[tuple[bool, int, str]]:
            return [(isinstance(each, int), each if isinstance(each, int) else 0, str(each)) for each in parts]

        return key(self.version) < key(self._of(other))

    def __hash__(self) -> int:
        return hash(tuple(self.version))


class StrictVersion(LooseVersion):
    """A version of two or three numbers; ValueError for another text."""

    def parse(self, vstring: str) -> None:
        """Take another text."""
        if not re.fullmatch(r"\d+\.\d+(\.\d+)?([ab]\d+)?", vstring):
            raise ValueError(f"invalid version number '{vstring}'")
        super().parse(vstring)


def strtobool(val: str) -> int:
    """1 or 0 of a word for true or false; ValueError for another."""
    word = val.lower()
    if word in ("y", "yes", "t", "true", "on", "1"):
        return 1
    if word in ("n", "no", "f", "false", "off", "0"):
        return 0
    raise ValueError(f"invalid truth value {word!r}")


def load_source(name: str, pathname: str, file: object = None) -> ModuleType:
    """Load a Python file as a module, again if it is loaded already."""
    spec = importlib.util.spec_from_file_location(name, pathname)
    if spec is None or spec.loader is None:
        raise ImportError(f"{pathname} is no Python file", name=name, path=pathname)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


_NAMES: dict[str, dict[str, object]] = {
    "distutils": {},
    "distutils.version": {"LooseVersion": LooseVersion, "StrictVersion": StrictVersion},
    "distutils.util": {"strtobool": strtobool},
    "imp": {"load_source": load_source, "reload": importlib.reload},
}


class _Loader(Loader):
    """Fills a module with its names."""

    def exec_module(self, module: ModuleType) -> None:
        """Fill it."""
        vars(module).update(_NAMES[module.__name__])


class _Finder(MetaPathFinder):
    """Finds these modules where nobody else does, such as setuptools."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The module's spec."""
        return ModuleSpec(fullname, _Loader(), is_package=fullname == "distutils") if fullname in _NAMES else None


def install() -> None:
    """Let Python find these modules."""
    sys.meta_path.append(_Finder())
