"""Nested structures of sequences, named tuples, dicts and objects of attrs: taking them apart and putting them together.

Everything else is a leaf, strings too. Dicts are taken in the order of their sorted keys.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, MappingView, Sequence
from typing import Any, TypeAlias

from weft.framework.types.type_spec import CompositeTensor, TypeSpec, type_spec_from_value

# A structure, or a part of one.
Nested: TypeAlias = Any


class _Opened(tuple[Nested, ...]):
    """The tensors that a composite one is made of, in a structure that is expanded."""

    spec: TypeSpec


def _opened(structure: Nested, expand_composites: bool) -> Nested:
    """The structure, in which composite tensors are structures of their own if they are to be expanded."""
    if not expand_composites:
        return structure
    if isinstance(structure, CompositeTensor):
        spec = type_spec_from_value(structure)
        opened = _Opened(spec._to_components(structure))
        opened.spec = spec
        return opened
    if not is_nested(structure):
        return structure
    return with_children(structure, [_opened(part, True) for part in children(structure)])


def is_nested(value: object) -> bool:
    """Whether the value is a sequence, such as a list or tuple, a dict or an object of a class that attrs made.

    Args:
        value: any object.
    """
    if isinstance(value, list | tuple | dict):
        return True
    if isinstance(value, Sequence | Mapping | MappingView):
        return not isinstance(value, str | bytes | bytearray | memoryview)
    return is_of_attrs(value)


def is_named_tuple(instance: object, strict: bool = False) -> bool:
    """Whether it is a named tuple.

    Args:
        instance: any object.
        strict: whether objects of classes derived from a named tuple's are none.
    """
    named = isinstance(instance, tuple) and hasattr(instance, "_fields")
    return named and (not strict or type(instance).__base__ is tuple)


def is_of_attrs(value: object) -> bool:
    """Whether the value is an object of a class that attrs made.

    Args:
        value: any object.
    """
    return hasattr(type(value), "__attrs_attrs__")


def children(structure: Nested) -> list[Nested]:
    """The parts of a structure, in order."""
    return [part for _, part in keyed_children(structure)]


def keyed_children(structure: Nested) -> list[tuple[Nested, Nested]]:
    """The parts of a structure, each behind its key, field or place."""
    if isinstance(structure, Mapping):
        return [(key, structure[key]) for key in sorted(structure)]
    if is_named_tuple(structure):
        return [(field, getattr(structure, field)) for field in structure._fields]
    if is_of_attrs(structure):
        return [(field.name, getattr(structure, field.name)) for field in type(structure).__attrs_attrs__]
    return list(enumerate(structure))


def flatten(structure: object, expand_composites: bool = False) -> list[Nested]:
    """The leaves, in order.

    Args:
        structure: any nesting of lists, tuples, named tuples and dicts; dicts go by their sorted keys. Anything else is a
            leaf.
        expand_composites: whether the leaves of sparse and ragged tensors and of IndexedSlices are the tensors that they are
            made of; they are leaves themselves otherwise.

    Returns:
        A new list.
    """
    return _leaves(_opened(structure, expand_composites))


def _leaves(structure: Nested) -> list[Nested]:
    if not is_nested(structure):
        return [structure]
    return [leaf for child in children(structure) for leaf in _leaves(child)]


def pack_sequence_as(structure: object, flat_sequence: Sequence[object], expand_composites: bool = False) -> Nested:
    """The leaves `flat_sequence` in the structure of `structure`; ValueError when their number differs.

    Args:
        structure: a nesting of lists, tuples and dicts, or a single leaf.
        flat_sequence: as many leaves, in the order of `flatten`.
        expand_composites: whether sparse and ragged tensors and IndexedSlices are made anew of tensors in the sequence.

    Returns:
        The structure, made of these leaves.

    Raises:
        TypeError: `flat_sequence` is no sequence.
        ValueError: it has not as many leaves as the structure.
    """
    if not is_nested(flat_sequence):
        raise TypeError(f"flat_sequence must be a sequence, it is {type(flat_sequence).__name__}: {flat_sequence}")
    left, opened = list(flat_sequence), _opened(structure, expand_composites)
    wanted = len(flatten(opened))
    if wanted != len(left):
        raise ValueError(
            f"Could not pack sequence. Structure had {wanted} elements, but flat_sequence had {len(left)} elements.  "
            f"Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return _pack(opened, left)


def _pack(structure: Nested, left: list[Nested]) -> Nested:
    if not is_nested(structure):
        return left.pop(0)
    return with_children(structure, [_pack(child, left) for child in children(structure)])


def with_children(structure: Nested, parts: list[Nested]) -> Nested:
    """A structure of the same kind, whose parts are others, in the order of `children`."""
    if isinstance(structure, _Opened):
        return structure.spec._from_components(parts)
    if isinstance(structure, Mapping):
        made = dict(zip(sorted(structure), parts, strict=True))
        ordered = [(key, made[key]) for key in structure]
        kind: Nested = type(structure)
        return kind(structure.default_factory, ordered) if isinstance(structure, defaultdict) else kind(ordered)
    if is_named_tuple(structure) or is_of_attrs(structure):
        return type(structure)(*parts)
    if isinstance(structure, list | range | MappingView):
        return parts
    return tuple(parts) if isinstance(structure, tuple) else type(structure)(parts)


def map_structure(
    func: Callable[..., object], *structure: object, check_types: bool = True, expand_composites: bool = False
) -> Nested:
    """The same nesting with `func` of the leaves that stand at each place.

    Args:
        func: a function of as many arguments as there are structures.
        structure: nestings of lists, tuples and dicts, all alike.
        check_types: whether the kinds of sequences must be equal too.
        expand_composites: whether the function gets the tensors that sparse and ragged ones and IndexedSlices are made of,
            which are then made anew of what it returns.

    Returns:
        What `func` returned, in the structure of the first.

    Raises:
        TypeError: `func` cannot be called, or kinds of sequences differ and `check_types` is true.
        ValueError: the nesting differs, or there is no structure.
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types, expand_composites)
    leaves = zip(*(flatten(each, expand_composites) for each in structure), strict=True)
    return pack_sequence_as(structure[0], [func(*each) for each in leaves], expand_composites)


def assert_same_structure(nest1: object, nest2: object, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raise ValueError when the nesting differs, TypeError when the kinds of sequences do, unless `check_types` is False.

    Args:
        nest1, nest2: any nesting of lists, tuples, named tuples and dicts.
        check_types: whether the kinds of sequences must be equal too.
        expand_composites: whether sparse and ragged tensors and IndexedSlices must stand in the same places, of compatible
            types and shapes.
    """
    problem = _difference(_opened(nest1, expand_composites), _opened(nest2, expand_composites), check_types)
    if problem is None:
        return
    error, text = problem
    raise error(
        "The two structures don't have the same nested structure.\n\n"
        f"First structure: {_described(nest1)}\n\nSecond structure: {_described(nest2)}\n\n"
        f"More specifically: {text}\nEntire first structure:\n{_dotted(nest1)}\nEntire second structure:\n{_dotted(nest2)}"
    )


def _difference(a: Nested, b: Nested, check_types: bool) -> tuple[type[Exception], str] | None:
    if is_nested(a) != is_nested(b):
        nested, leaf = (a, b) if is_nested(a) else (b, a)
        return ValueError, f'Substructure "{_described(nested)}" is a sequence, while substructure "{_described(leaf)}" is not'
    if not is_nested(a):
        return None
    if isinstance(a, _Opened) and isinstance(b, _Opened) and type(a.spec) is type(b.spec):
        try:
            a.spec.most_specific_compatible_type(b.spec)
        except ValueError as error:
            return ValueError, str(error)
    elif isinstance(a, Mapping) and isinstance(b, Mapping):
        if set(a) != set(b):
            return ValueError, (
                "The two dictionaries don't have the same set of keys. First structure has keys "
                f"{_described(list(a))}, while second structure has keys {_described(list(b))}"
            )
    elif check_types and _kind(a) is not _kind(b) and not _same_fields(a, b):
        return TypeError, (
            f"The two structures don't have the same sequence type. First structure {_described(a)} has type "
            f"{_kind(a).__name__}, while second structure {_described(b)} has type {_kind(b).__name__}"
        )
    if len(children(a)) != len(children(b)):
        return ValueError, (
            "The two structures don't have the same number of elements. First structure: "
            f"{_described(a)}. Second structure: {_described(b)}"
        )
    for one, other in zip(children(a), children(b), strict=True):
        found = _difference(one, other, check_types)
        if found is not None:
            return found
    return None


def _kind(value: Nested) -> type:
    return value.spec.value_type if isinstance(value, _Opened) else type(value)


def _same_fields(a: Nested, b: Nested) -> bool:
    return is_named_tuple(a) and is_named_tuple(b) and type(a).__name__ == type(b).__name__ and a._fields == b._fields


def _described(value: object) -> str:
    return f"type={type(value).__name__} str={value}"


def _dotted(structure: object) -> str:
    return str(pack_sequence_as(structure, [_Dot()] * len(flatten(structure))))


class _Dot:
    def __repr__(self) -> str:
        return "."


# Structures that reach deeper than another one.


def assert_shallow_structure(shallow_tree: Nested, input_tree: Nested, check_types: bool = True) -> None:
    """Raise unless `input_tree` has the nesting of `shallow_tree`, whose leaves may stand for whole structures.

    Args:
        shallow_tree: a nesting of lists, tuples and dicts.
        input_tree: a nesting that may go deeper where the other has leaves.
        check_types: whether the kinds of sequences must be equal too.

    Raises:
        TypeError: the kinds of sequences differ, or the input has a leaf where the other is nested.
        ValueError: lengths or keys differ.
    """
    if not is_nested(shallow_tree):
        return
    if not is_nested(input_tree):
        raise TypeError(
            f"If shallow structure is a sequence, input must also be a sequence. Input has type: {type(input_tree)}."
        )
    if check_types and type(shallow_tree) is not type(input_tree) and not _same_fields(shallow_tree, input_tree):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(input_tree)}, while shallow structure has type {type(shallow_tree)}."
        )
    given, wanted = len(children(input_tree)), len(children(shallow_tree))
    if given != wanted:
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{given}, while shallow structure has length {wanted}."
        )
    if isinstance(shallow_tree, Mapping) and set(input_tree) != set(shallow_tree):
        raise ValueError(f"The two structures don't have the same keys. Input structure has {list(input_tree)}")
    for shallow, deep in zip(children(shallow_tree), children(input_tree), strict=True):
        assert_shallow_structure(shallow, deep, check_types)


def flatten_up_to(shallow_tree: object, input_tree: object, check_types: bool = True) -> list[Nested]:
    """The parts of `input_tree` that stand where `shallow_tree` has leaves.

    Args:
        shallow_tree: a nesting of lists, tuples and dicts.
        input_tree: a nesting that may go deeper where the other has leaves.
        check_types: whether the kinds of sequences must be equal too.
    """
    assert_shallow_structure(shallow_tree, input_tree, check_types)
    return _flat_up_to(shallow_tree, input_tree)


def _flat_up_to(shallow: object, deep: object) -> list[Nested]:
    if not is_nested(shallow):
        return [deep]
    pairs = zip(children(shallow), children(deep), strict=True)
    return [part for one, other in pairs for part in _flat_up_to(one, other)]


def map_structure_up_to(shallow_tree: object, func: Callable[..., object], *inputs: object, check_types: bool = True) -> Nested:
    """`func` of the parts of all inputs that stand where `shallow_tree` has leaves, nested as that is.

    Args:
        shallow_tree: a nesting of lists, tuples and dicts.
        func: a function of as many arguments as there are inputs.
        inputs: nestings that may go deeper where the other has leaves.
        check_types: whether the kinds of sequences must be equal too.

    Raises:
        ValueError: there are no inputs, or their nesting differs.
    """
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    parts = zip(*(flatten_up_to(shallow_tree, each, check_types) for each in inputs), strict=True)
    return pack_sequence_as(shallow_tree, [func(*each) for each in parts])


def flatten_dict_items(dictionary: Mapping[Nested, object]) -> dict[Nested, Nested]:
    """A dict whose keys and values may be nested in the same way, with a key for each leaf; ValueError when they are not.

    Args:
        dictionary: a dict with keys that are leaves or tuples of them, each with a value nested as its key is.
    """
    made: dict[Nested, Nested] = {}
    for key, value in dictionary.items():
        assert_same_structure(key, value)
        for one, other in zip(flatten(key), flatten(value), strict=True):
            if one in made:
                raise ValueError(f"Could not flatten dictionary: key {one} is not unique.")
            made[one] = other
    return made
