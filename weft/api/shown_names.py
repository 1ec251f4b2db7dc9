"""The names that `dir` of a public module shows, and an editor's completion with it: the public ones."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType


def shown_names(module: ModuleType) -> list[str]:
    """What a module defines, re-exports (`from a import b as b`) or has as submodules; not what it imports for itself."""
    here = vars(module)
    inner = (name for name, value in here.items() if isinstance(value, ModuleType) and value.__name__.endswith(f".{name}"))
    own = {name for name in inner if here[name].__name__ == f"{module.__name__}.{name}"}
    file = getattr(module, "__file__", None)
    told = set(_exported(Path(file))) if file is not None else here.keys() - {"annotations"}
    return sorted(name for name in own | told if not name.startswith("_") and name in here)


def _exported(file: Path) -> Iterator[str]:
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        match node:
            case ast.ImportFrom(names=names):
                yield from (alias.asname for alias in names if alias.asname is not None)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
