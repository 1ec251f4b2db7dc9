"""What a translation may do, and the marks that programs put into their loops."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Final, NamedTuple

_UNSPECIFIED: Final = object()


class Feature(enum.Enum):
    """Optional parts of a translation; none of them is on unless a program asks for it.

    ASSERT_STATEMENTS makes `assert` of a tensor an Assert node, BUILTIN_FUNCTIONS makes `print` print tensors in each run, and
    EQUALITY_OPERATORS makes `==` and `!=` compare tensors by value. AUTO_CONTROL_DEPS, LISTS and NAME_SCOPES are accepted;
    ALL is all of them.
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """All of them, ALL among them."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Feature | Iterable[Feature]) -> tuple[Feature, ...]:
        """All but these and ALL.

        Args:
            exclude: a feature, or several.
        """
        left_out = {exclude} if isinstance(exclude, Feature) else set(exclude)
        return tuple(each for each in cls if each not in left_out and each is not cls.ALL)


# The parts that change what a translation does.
_EFFECTIVE: Final = (Feature.ASSERT_STATEMENTS, Feature.BUILTIN_FUNCTIONS, Feature.EQUALITY_OPERATORS)


class Options(NamedTuple):
    """How functions are translated.

    Args:
        recursive: also the functions that they call.
        features: the optional parts that are on.
    """

    recursive: bool = True
    features: frozenset[Feature] = frozenset()


def options_of(recursive: bool, features: object) -> Options:
    """The options that a program asked for.

    Args:
        recursive: whether functions are translated that are called.
        features: a Feature, several, or None for none.

    Raises:
        TypeError: something else is given as a feature.
    """
    given = () if features is None else (features,) if isinstance(features, Feature) else features
    if not isinstance(given, Iterable) or not all(isinstance(each, Feature) for each in given):
        raise TypeError(
            f"Optional features are values of tf.autograph.experimental.Feature, or a tuple of them; got {features!r}"
        )
    wanted = set(given)
    return Options(recursive, frozenset(_EFFECTIVE if Feature.ALL in wanted else wanted.intersection(_EFFECTIVE)))


def set_loop_options(
    parallel_iterations: object = _UNSPECIFIED,
    back_prop: object = _UNSPECIFIED,
    swap_memory: object = _UNSPECIFIED,
    maximum_iterations: object = _UNSPECIFIED,
) -> None:
    """Stand in a loop as TensorFlow 1.15 has it: accepted, without effect on the loop.

    Args:
        parallel_iterations, back_prop, swap_memory, maximum_iterations: those of `tf.while_loop`.
    """


def set_element_type(entity: object, dtype: object, shape: object = _UNSPECIFIED) -> None:
    """Tell the type of a list's elements; accepted, since lists stay Python's.

    Args:
        entity: the list.
        dtype: the type of its elements.
        shape: their shape.
    """
