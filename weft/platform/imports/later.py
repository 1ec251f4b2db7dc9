"""Modules that are imported when something first looks into them, because most processes never do."""

from __future__ import annotations

import importlib
from types import ModuleType


class Later(ModuleType):
    """Stands for a module. What was looked up once is found here as fast as in a module.

    Nothing may look into one while modules are imported: no decorator, no default of an argument, no base class.
    Type checkers are shown the module itself, in the branch that they alone take.
    """

    def __getattr__(self, name: str) -> object:
        # The import system and tools ask every module for names such as __wrapped__.
        if name.startswith("__") and name != "__version__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value: object = getattr(self._load(), name)
        setattr(self, name, value)
        return value

    def _load(self) -> ModuleType:
        return importlib.import_module(self.__name__)
