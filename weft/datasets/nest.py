"""Structures of dataset elements: tuples, named tuples, dicts and objects of attrs.

Everything else is a leaf, lists and sparse values too. A list in an element is a tensor in the making: `from_tensors([1, 2])`
has one component of shape [2].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from weft.framework.building.aliases import Nest
from weft.framework.composites.sparse_tensor import SparseTensorValue
from weft.framework.nested.nest import children as fields_of
from weft.framework.nested.nest import is_of_attrs


def is_nested(value: object) -> bool:
    """Whether the value is a tuple, a dict or an object of a class that attrs made, and no sparse value."""
    return (isinstance(value, tuple | Mapping) and not isinstance(value, SparseTensorValue)) or is_of_attrs(value)


def children(structure: Nest) -> list[Nest]:
    """The parts of a tuple or an object, or of a dict in the order of its keys."""
    if isinstance(structure, Mapping):
        return [structure[key] for key in sorted(structure)]
    return fields_of(structure) if is_of_attrs(structure) else list(structure)


def flatten(structure: Nest) -> list[Nest]:
    """The leaves, in order."""
    if not is_nested(structure):
        return [structure]
    return [leaf for child in children(structure) for leaf in flatten(child)]


def pack_sequence_as(structure: Nest, leaves: Sequence[Nest]) -> Nest:
    """Other leaves in the same structure."""
    left = list(leaves)
    if len(left) != len(flatten(structure)):
        raise ValueError(
            f"Could not pack sequence. Structure had {len(flatten(structure))} elements, but flat_sequence had {len(left)} "
            f"elements.  Structure: {structure}, flat_sequence: {list(leaves)}."
        )
    return _packed(structure, left)


def _packed(structure: Nest, left: list[Nest]) -> Nest:
    if not is_nested(structure):
        return left.pop(0)
    return _like(structure, [_packed(child, left) for child in children(structure)])


def _like(structure: Nest, parts: Sequence[Nest]) -> Nest:
    """A structure of the same kind with other parts, which stand in the order of `children`."""
    if isinstance(structure, Mapping):
        made = dict(zip(sorted(structure), parts, strict=True))
        return type(structure)((key, made[key]) for key in structure)  # type: ignore[call-arg]
    return type(structure)(*parts) if hasattr(structure, "_fields") or is_of_attrs(structure) else tuple(parts)


def map_structure(function: Callable[..., Nest], *structures: Nest) -> Nest:
    """The function of the leaves at each place, in the same structure."""
    for other in structures[1:]:
        assert_same_structure(structures[0], other)
    leaves = zip(*(flatten(each) for each in structures), strict=True)
    return pack_sequence_as(structures[0], [function(*each) for each in leaves])


def flatten_up_to(shallow: Nest, structure: Nest) -> list[Nest]:
    """What stands in a structure where `shallow` has its leaves; TypeError or ValueError where it has another form."""
    if not is_nested(shallow):
        return [structure]
    if not is_nested(structure):
        raise TypeError(
            f"If shallow structure is a sequence, input must also be a sequence. Input has type: {type(structure).__name__!r}."
        )
    if isinstance(shallow, Mapping) != isinstance(structure, Mapping):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(structure).__name__!r}, while shallow structure has type {type(shallow).__name__!r}."
        )
    wanted, found = len(children(shallow)), len(children(structure))
    if wanted != found:
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{found}, while shallow structure has length {wanted}."
        )
    if isinstance(shallow, Mapping) and set(shallow) != set(structure):
        raise ValueError(
            f"The two structures don't have the same keys. Input structure has keys {list(structure)}, while shallow structure "
            f"has keys {list(shallow)}."
        )
    pairs = zip(children(shallow), children(structure), strict=True)
    return [leaf for inner, part in pairs for leaf in flatten_up_to(inner, part)]


def map_structure_up_to(shallow: Nest, function: Callable[..., Nest], *structures: Nest) -> Nest:
    """The function of what stands where `shallow` has its leaves, in its structure."""
    parts = [flatten_up_to(shallow, each) for each in structures]
    return pack_sequence_as(shallow, [function(*each) for each in zip(*parts, strict=True)])


def assert_same_structure(one: Nest, other: Nest) -> None:
    """Raise ValueError where the nesting differs, TypeError where the kinds of sequences do."""
    if is_nested(one) != is_nested(other) or (is_nested(one) and len(children(one)) != len(children(other))):
        raise ValueError(
            f"The two structures don't have the same nested structure. First structure: {one}, second structure: {other}."
        )
    if not is_nested(one):
        return
    if type(one) is not type(other) and not (isinstance(one, Mapping) and isinstance(other, Mapping)):
        raise TypeError(
            f"The two structures don't have the same sequence type. First structure has type {type(one)}, while second "
            f"structure has type {type(other)}."
        )
    if isinstance(one, Mapping) and set(one) != set(other):
        raise ValueError(
            f"The two dictionaries don't have the same set of keys. First structure has keys {list(one)}, while second "
            f"structure has keys {list(other)}"
        )
    for a, b in zip(children(one), children(other), strict=True):
        assert_same_structure(a, b)
