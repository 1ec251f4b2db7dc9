"""What branches and loops have to give, and the words that refuse what they do not."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Nest
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dims import Dims
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.composites import as_leaf
from weft.platform.imports.malt_modules import operators


def is_undefined(value: object) -> bool:
    """Whether a variable has no value yet, or a function has not returned one."""
    return isinstance(value, operators.Undefined | operators.UndefinedReturnValue)


def check_defined(names: Sequence[str], values: Sequence[Nest]) -> None:
    """Raise ValueError for variables of a loop that have no value before it."""
    if any(isinstance(value, operators.UndefinedReturnValue) for value in values):
        raise ValueError(
            "return statements are not supported within a TensorFlow loop. Assign the result to a variable that is defined "
            "before the loop, end the loop by `break`, and return behind it."
        )
    missing = tuple(name for name, value in zip(names, values, strict=True) if is_undefined(value))
    if missing:
        raise ValueError(
            f"TensorFlow requires that the following symbols must be defined before the loop: {missing}. Without a round of "
            "the loop they have no value."
        )


def check_branch(names: Sequence[str], values: Sequence[Nest], others: Sequence[Nest], branch: str) -> None:
    """Raise ValueError for what one branch leaves undefined and the other does not."""
    pairs = list(zip(names, values, others, strict=True))
    lacking = [name for name, value, other in pairs if is_undefined(value) and not is_undefined(other)]
    if any(isinstance(value, operators.UndefinedReturnValue) and not is_undefined(other) for _, value, other in pairs):
        raise ValueError(
            f"A value must also be returned from the {branch} branch. If a value is returned from one branch of a conditional "
            "a value must be returned from all branches."
        )
    if lacking:
        raise ValueError(
            f"The following symbols must also be initialized in the {branch} branch: {tuple(lacking)}. Alternatively, you may "
            "initialize them before the if statement."
        )


def check_same_types(name: str, value: Nest, other: Nest) -> None:
    """Raise TypeError for a variable to which the branches give values of different types."""
    for a, b in _pairs(value, other):
        if isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype.base_dtype is not b.dtype.base_dtype:
            raise TypeError(
                f'"{name}" has dtype {a.dtype.base_dtype.name} in the TRUE branch, but dtype={b.dtype.base_dtype.name} in the '
                "FALSE branch. TensorFlow control flow requires that they are the same."
            )


def check_stays(name: str, before: Nest, after: Nest) -> None:
    """Raise TypeError or ValueError for a variable of which a round of a loop makes another type or shape."""
    for a, b in _pairs(before, after):
        if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
            continue
        if a.dtype.base_dtype is not b.dtype.base_dtype:
            raise TypeError(
                f'"{name}" has dtype {a.dtype.base_dtype.name} before the loop, but dtype {b.dtype.base_dtype.name} after one '
                "iteration. TensorFlow control flow requires it stays the same."
            )
        if not _is_within(a.dims, b.dims):
            raise ValueError(
                f'"{name}" has shape {TensorShape(a.dims)} before the loop, but shape {TensorShape(b.dims)} after one '
                "iteration. TensorFlow control flow requires it stays the same or be more specific. tf.while_loop takes "
                "shape_invariants."
            )


def _pairs(a: Nest, b: Nest) -> list[tuple[Nest, Nest]]:
    first, second = nest.flatten(a), nest.flatten(b)
    return list(zip(first, second, strict=True)) if len(first) == len(second) else []


def _is_within(before: Dims, after: Dims) -> bool:
    if before is None:
        return True
    if after is None or len(after) != len(before):
        return False
    return all(a is None or a == b for a, b in zip(before, after, strict=True))


def converted(name: str, value: Nest) -> Nest:
    """A variable as nodes carry it: tensors for its values.

    Raises:
        ValueError, TypeError: it has no form as tensors.
    """
    try:
        return nest.map_structure(as_leaf, value)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{error}\n  {name!r} is changed in a branch or loop that a tensor decides, so it has to be a tensor, or a nest of "
            "tensors."
        ) from error
