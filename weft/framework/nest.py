"""Nested structures of lists, tuples, named tuples and dicts: taking them apart and putting them together.

Everything else is a leaf. Dicts are taken in the order of their sorted keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any


def is_nested(value: Any) -> bool:
    """Whether the value is a list, tuple or dict."""
    return isinstance(value, list | tuple | Mapping)


def children(structure: Any) -> list[Any]:
    """The parts of a list, tuple or dict."""
    if isinstance(structure, Mapping):
        return [structure[key] for key in sorted(structure)]
    return list(structure)


def flatten(structure: Any) -> list[Any]:
    """The leaves, in order."""
    if not is_nested(structure):
        return [structure]
    return [leaf for child in children(structure) for leaf in flatten(child)]


def pack_sequence_as(structure: Any, flat: Sequence[Any]) -> Any:
    """The leaves `flat` in the structure of `structure`; ValueError when their number differs."""
    left = list(flat)
    result = _pack(structure, left)
    if left:
        raise ValueError(
            f"Could not pack sequence. Structure had {len(flat) - len(left)} atoms, but flat_sequence had {len(flat)} items."
        )
    return result


def _pack(structure: Any, left: list[Any]) -> Any:
    if not is_nested(structure):
        if not left:
            raise ValueError("Could not pack sequence: flat_sequence has too few items.")
        return left.pop(0)
    if isinstance(structure, Mapping):
        made = {key: _pack(structure[key], left) for key in sorted(structure)}
        ordered = [(key, made[key]) for key in structure]
        return type(structure)(ordered)  # type: ignore[call-arg]
    made_list = [_pack(child, left) for child in structure]
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*made_list)
    return made_list if isinstance(structure, list) else tuple(made_list)


def map_structure(function: Callable[..., Any], *structures: Any) -> Any:
    """The same nesting with `function` of the leaves that stand at each place."""
    for other in structures[1:]:
        assert_same_structure(structures[0], other)
    leaves = zip(*(flatten(structure) for structure in structures), strict=True)
    return pack_sequence_as(structures[0], [function(*each) for each in leaves])


def assert_same_structure(first: Any, second: Any) -> None:
    """Raise ValueError when the nesting differs, TypeError when the kinds of sequences do."""
    problem = _difference(first, second)
    if problem is None:
        return
    error, text = problem
    raise error(
        "The two structures don't have the same nested structure.\n\n"
        f"First structure: {_described(first)}\n\nSecond structure: {_described(second)}\n\n"
        f"More specifically: {text}\nEntire first structure:\n{_dotted(first)}\nEntire second structure:\n{_dotted(second)}"
    )


def _difference(a: Any, b: Any) -> tuple[type[Exception], str] | None:
    if is_nested(a) != is_nested(b):
        nested, leaf = (a, b) if is_nested(a) else (b, a)
        return ValueError, f'Substructure "{_described(nested)}" is a sequence, while substructure "{_described(leaf)}" is not'
    if not is_nested(a):
        return None
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if set(a) != set(b):
            return ValueError, (
                "The two dictionaries don't have the same set of keys. First structure has keys "
                f"{_described(list(a))}, while second structure has keys {_described(list(b))}"
            )
    elif type(a) is not type(b) and not _same_fields(a, b):
        return TypeError, (
            f"The two structures don't have the same sequence type. First structure {_described(a)} has type "
            f"{type(a).__name__}, while second structure {_described(b)} has type {type(b).__name__}"
        )
    if len(a) != len(b):
        return ValueError, (
            "The two structures don't have the same number of elements. First structure: "
            f"{_described(a)}. Second structure: {_described(b)}"
        )
    for one, other in zip(children(a), children(b), strict=True):
        found = _difference(one, other)
        if found is not None:
            return found
    return None


def _same_fields(a: Any, b: Any) -> bool:
    return getattr(a, "_fields", None) is not None and getattr(a, "_fields", None) == getattr(b, "_fields", None)


def _described(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


def _dotted(structure: Any) -> str:
    return str(pack_sequence_as(structure, [_Dot()] * len(flatten(structure))))


class _Dot:
    def __repr__(self) -> str:
        return "."
