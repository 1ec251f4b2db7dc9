"""TensorFlow's import paths, for programs that run unchanged: `tensorflow.X` is `weft.X`, one object under both names.

So are `tensorflow_core.X` and `tensorflow_estimator.X`, the packages in which 1.15 keeps its own modules and its estimators.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Final, NoReturn

from weft.api.import_paths import Alias
from weft.platform.logs import log_name

_STAND_IN_FOLDER: Final = Path(__file__).with_name("as_tensorflow")  # on the module path, its files are the packages below
_PACKAGES: Final = ("tensorflow", "tensorflow_core", "tensorflow_estimator")


class _TensorFlowPaths(MetaPathFinder):
    """Finds TensorFlow's packages and what is below them."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        package, _, rest = fullname.partition(".")
        if package not in _PACKAGES:
            return None
        own = f"weft.{rest}" if rest else "weft"
        try:
            found = importlib.util.find_spec(own)
        except ModuleNotFoundError as error:
            # Under the name that was asked for: `pydoc.locate` finds out so what of a path is a module.
            raise ModuleNotFoundError(error.msg, name=fullname if error.name == own else error.name) from None
        if found is None:
            raise ModuleNotFoundError(f"weft stands for TensorFlow here, and has no module {own!r}", name=fullname)
        return ModuleSpec(fullname, Alias(own))


def install() -> None:
    """Let every later import of TensorFlow's modules in this process find weft's. Idempotent."""
    if not any(isinstance(finder, _TensorFlowPaths) for finder in sys.meta_path):
        sys.meta_path.insert(0, _TensorFlowPaths())
    sys.modules.update(dict.fromkeys(_PACKAGES, importlib.import_module("weft")))
    log_name.answer_to("tensorflow")


def run_as_tensorflow(program: str, arguments: Sequence[str]) -> NoReturn:
    """Become a process that runs the Python file `program`, in which, and in whose children, weft stands for TensorFlow.

    A fresh interpreter, so that the program is all that a file run by `python` is: the main module, whose functions can be
    pickled, with its own arguments, signals and exit code.
    """
    rest = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(_STAND_IN_FOLDER), *([rest] if rest else [])])}
    os.execve(sys.executable, [sys.executable, program, *arguments], environment)
