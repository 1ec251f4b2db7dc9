"""The public names of weft are these and no others: a name that appears, or goes, is a decision.

After that decision, rewrite the list with `python -m tests.test_public_api`.
"""

from __future__ import annotations

import ast
import importlib
import types
from collections.abc import Iterator
from pathlib import Path

import weft
import weft.namespace
from weft.api import on_demand

_LIST = Path(__file__).parent / "public_api.txt"


def _exported(module: types.ModuleType) -> Iterator[tuple[str, bool]]:
    """The public names of a module, and whether each is a namespace: what it re-exports as itself, what it defines, if it does.

    A re-export is `from a import b as c`; other imports are a module's own business.
    """
    if getattr(module, "__file__", None) is None:  # a path of TensorFlow's that another test has imported
        return
    for node in ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body:
        match node:
            case ast.ImportFrom(names=names):
                found = [alias.asname for alias in names if alias.asname is not None]
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found = [name]
            case ast.Assign(targets=targets):
                found = [target.id for target in targets if isinstance(target, ast.Name)]
            case ast.AnnAssign(target=ast.Name(id=name)):
                found = [name]
            case _:
                found = []
        for name in found:
            if not name.startswith("_") or name in ("__version__", "__git_version__", "__compiler_version__"):
                yield name, isinstance(getattr(module, name), types.ModuleType)


def public_names() -> list[str]:
    """Every public name with its namespace, sorted; a namespace with several names stands under each, and is opened once."""
    names: set[str] = set()
    opened: set[str] = set()
    waiting: list[tuple[str, types.ModuleType]] = [("tf", weft.namespace)]
    for name in on_demand.PUBLIC:
        names.add(f"tf.{name}")
        waiting.append((f"tf.{name}", getattr(weft, name)))
    while waiting:
        prefix, module = waiting.pop()
        for name, is_namespace in _exported(module):
            names.add(f"{prefix}.{name}")
            found = getattr(module, name)
            if is_namespace and found.__name__.startswith("weft.") and found.__name__ not in opened:
                opened.add(found.__name__)
                waiting.append((f"{prefix}.{name}", importlib.import_module(found.__name__)))
    return sorted(names)


def test_the_public_names_are_those_of_the_list() -> None:
    listed = _LIST.read_text(encoding="utf-8").split()
    found = public_names()
    new, gone = sorted(set(found) - set(listed)), sorted(set(listed) - set(found))
    assert not new, f"not in {_LIST.name}: rewrite it with `python -m tests.test_public_api` if these are meant to be public"
    assert not gone, f"in {_LIST.name} and not in weft: programs that use these break"


def test_the_list_is_sorted_and_says_nothing_twice() -> None:
    listed = _LIST.read_text(encoding="utf-8").split()
    assert listed == sorted(set(listed))


if __name__ == "__main__":
    _LIST.write_text("\n".join(public_names()) + "\n", encoding="utf-8")
