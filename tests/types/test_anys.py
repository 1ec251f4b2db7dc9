"""How many parameters and results of public functions and methods say nothing of their type: `Any`, and no more.

Aliases count as types: `TensorLike`, `Nest`, `VariableLike` and the like tell a reader what is meant, even where Python's types
cannot say it. The number is a limit that held when it was written: it may shrink, and never grow.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from tests.docs.test_docstrings import public_objects

_LIMIT = 80
_BARE = re.compile(r"(?:Any|None)(?: \| (?:Any|None))*")
_SPECIAL = frozenset(("__call__", "__enter__", "__getitem__", "__init__", "__iter__", "__new__", "__next__"))


def _functions(name: str, found: object) -> Iterator[tuple[str, object]]:
    """A function, or the public methods and properties that a class and its bases of weft's define."""
    if not inspect.isclass(found):
        yield name, found
        return
    for base in found.__mro__:
        for key, member in vars(base).items() if base.__module__.startswith("weft.") else ():
            if key in _SPECIAL or not key.startswith("_"):
                function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
                if inspect.isfunction(function):
                    yield f"{name}.{key}", function


def _bare(function: object) -> Iterator[str]:
    own = inspect.unwrap(function)  # type: ignore[arg-type]
    for parameter, kind in getattr(own, "__annotations__", {}).items():
        if "Any" in str(kind) and _BARE.fullmatch(str(kind)):
            yield f"{own.__module__}.{own.__qualname__} {parameter}"


def test_any_stands_only_where_no_type_can() -> None:
    members = (each for name, found, _ in public_objects() for each in _functions(name, found))
    found = {bare for _, function in members for bare in _bare(function)}
    assert len(found) <= _LIMIT, sorted(found)


def test_the_counter_sees_any() -> None:
    class Reader:
        def read(self, path: str, kind: Any | None = None) -> Any:  # type: ignore[name-defined]  # noqa: F821
            raise NotImplementedError

        def names(self) -> list[Any]:  # type: ignore[name-defined]  # noqa: F821
            raise NotImplementedError

    Reader.__module__ = "weft.reader"
    found = [bare.rpartition(".")[2] for _, function in _functions("Reader", Reader) for bare in _bare(function)]
    assert found == ["read kind", "read return"]
