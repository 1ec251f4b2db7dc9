"""Nested structures and the ways to their leaves: tuples of keys, fields and places, or these joined into one string."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from weft.framework.nested.nest import (
    Nested,
    assert_shallow_structure,
    flatten_up_to,
    is_nested,
    keyed_children,
    pack_sequence_as,
    with_children,
)

Path: TypeAlias = tuple[object, ...]
_Traverse: TypeAlias = Callable[[Nested], object]


def yield_flat_paths(nest: object, expand_composites: bool = False) -> Iterator[Path]:
    """The paths of all leaves, in the order of `flatten`.

    Args:
        nest: a nesting of sequences and dicts.
        expand_composites: has no effect: sparse tensors are leaves.
    """
    for path, _ in _walk(nest, nest):
        yield path


def flatten_with_tuple_paths(structure: object, expand_composites: bool = False) -> list[tuple[Path, Nested]]:
    """The leaves, each behind its path.

    Args:
        structure: a nesting of sequences and dicts.
        expand_composites: has no effect: sparse tensors are leaves.
    """
    return list(_walk(structure, structure))


def flatten_with_joined_string_paths(
    structure: object, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Nested]]:
    """The leaves, each behind its path as one string.

    Args:
        structure: a nesting of sequences and dicts.
        separator: what stands between the parts of a path.
        expand_composites: has no effect: sparse tensors are leaves.
    """
    return [(separator.join(map(str, path)), leaf) for path, leaf in _walk(structure, structure)]


def flatten_with_tuple_paths_up_to(
    shallow_tree: object, input_tree: object, check_types: bool = True, expand_composites: bool = False
) -> list[tuple[Path, Nested]]:
    """The parts of `input_tree` that stand where `shallow_tree` has leaves, each behind its path.

    Args:
        shallow_tree: a nesting of sequences and dicts.
        input_tree: a nesting that may go deeper where the other has leaves.
        check_types: whether the kinds of sequences must be equal too.
        expand_composites: has no effect: sparse tensors are leaves.
    """
    assert_shallow_structure(shallow_tree, input_tree, check_types)
    return list(_walk(shallow_tree, input_tree))


def map_structure_with_tuple_paths(
    func: Callable[..., object], *structure: object, check_types: bool = True, expand_composites: bool = False
) -> Nested:
    """The same nesting with `func` of each path and the leaves that stand there.

    Args:
        func: a function of a path, and of as many leaves as there are structures.
        structure: nestings of sequences and dicts, all alike.
        check_types: whether the kinds of sequences must be equal too.
        expand_composites: has no effect: sparse tensors are leaves.
    """
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, check_types=check_types)


def map_structure_with_paths(
    func: Callable[..., object], *structure: object, check_types: bool = True, expand_composites: bool = False
) -> Nested:
    """The same nesting with `func` of each path, as a string with slashes, and the leaves that stand there.

    Args:
        func: a function of a string, and of as many leaves as there are structures.
        structure: nestings of sequences and dicts, all alike.
        check_types: whether the kinds of sequences must be equal too.
        expand_composites: has no effect: sparse tensors are leaves.
    """

    def joined(path: Path, *leaves: object) -> object:
        return func("/".join(map(str, path)), *leaves)

    return map_structure_with_tuple_paths_up_to(structure[0], joined, *structure, check_types=check_types)


def map_structure_with_tuple_paths_up_to(
    shallow_tree: object,
    func: Callable[..., object],
    *inputs: object,
    check_types: bool = True,
    expand_composites: bool = False,
) -> Nested:
    """`func` of the paths of `shallow_tree`'s leaves, and of the parts of all inputs that stand there, nested as that is.

    Args:
        shallow_tree: a nesting of sequences and dicts.
        func: a function of a path, and of as many parts as there are inputs.
        inputs: nestings that may go deeper where the other has leaves.
        check_types: whether the kinds of sequences must be equal too.
        expand_composites: has no effect: sparse tensors are leaves.

    Raises:
        ValueError: there are no inputs, or their nesting differs.
    """
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    parts = [flatten_up_to(shallow_tree, each, check_types) for each in inputs]
    paths = yield_flat_paths(shallow_tree)
    return pack_sequence_as(shallow_tree, [func(*each) for each in zip(paths, *parts, strict=True)])


def get_traverse_shallow_structure(traverse_fn: _Traverse, structure: Nested, expand_composites: bool = False) -> Nested:
    """The top of a structure, as deep as a function says: True where it would go on at a leaf, False where it stops.

    Args:
        traverse_fn: of a part: whether to go into it; or a nesting of booleans that says so of the parts below.
        structure: a nesting of sequences and dicts.
        expand_composites: has no effect: sparse tensors are leaves.

    Raises:
        TypeError: the function returns something else, or more than its argument has.
        ValueError: it returns another number of booleans than its argument has parts.
    """
    answer: Nested = traverse_fn(structure)
    if not is_nested(structure):
        if not isinstance(answer, bool):
            raise TypeError(f"traverse_fn returned structure: {answer} for non-structure: {structure}")
        return answer
    if not is_nested(answer):
        if not isinstance(answer, bool):
            raise TypeError(f"traverse_fn returned a non-bool scalar: {answer} for input: {structure}")
        if not answer:
            return False
        parts = [get_traverse_shallow_structure(traverse_fn, part) for _, part in keyed_children(structure)]
        return with_children(structure, parts)
    assert_shallow_structure(answer, structure)
    pairs = zip(keyed_children(answer), keyed_children(structure), strict=True)
    return with_children(structure, [_below(traverse_fn, said, part) for (_, said), (_, part) in pairs])


def _below(traverse_fn: _Traverse, said: object, part: object) -> object:
    if not isinstance(said, bool):
        raise TypeError(f"traverse_fn didn't return a depth=1 structure of bools: {said} stands for the part {part}")
    return get_traverse_shallow_structure(traverse_fn, part) if said else False


def _walk(shallow: object, deep: object, path: Path = ()) -> Iterator[tuple[Path, Nested]]:
    if not is_nested(shallow):
        yield path, deep
        return
    for (key, one), (_, other) in zip(keyed_children(shallow), keyed_children(deep), strict=True):
        yield from _walk(one, other, (*path, key))
