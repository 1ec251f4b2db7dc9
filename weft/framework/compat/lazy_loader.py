"""LazyLoader of tensorflow.python.util.lazy_loader: a module that is imported when something is asked of it."""

from __future__ import annotations

import importlib
from collections.abc import MutableMapping
from types import ModuleType


class LazyLoader(ModuleType):
    """Stands for a module until something is asked of it, which imports the module.

    Args:
        local_name: the name under which the module stands in its user.
        parent_module_globals: the user's names, in which the module takes this one's place.
        name: the module's path.
    """

    def __init__(self, local_name: str, parent_module_globals: MutableMapping[str, object], name: str) -> None:
        super().__init__(name)
        self._local_name = local_name
        self._parent_module_globals = parent_module_globals

    def _load(self) -> ModuleType:
        module = importlib.import_module(self.__name__)
        self._parent_module_globals[self._local_name] = module
        vars(self).update(vars(module))
        return module

    def __getattr__(self, item: str) -> object:
        return getattr(self._load(), item)

    def __dir__(self) -> list[str]:
        return dir(self._load())
