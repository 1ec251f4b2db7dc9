"""The initializers, regularizers, constraints and activations that a layer is given by name or config, as Keras has them.

The names are those of `tf.keras`, which is above this floor and tells here how they are looked up. A program that has not
touched it has not loaded it: the module that tells is imported when a name is first looked up.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Final, TypeAlias

from weft.framework.building.aliases import Activation, Constraint, Initializer, Nest, Regularizer

WeightOptions: TypeAlias = "tuple[Initializer | None, Regularizer | None, Constraint | None]"
"""How a weight is made: its initializer, its regularizer, its constraint."""

_LOOKUPS: Final[dict[str, Callable[[Nest], Nest]]] = {}
_TELLERS: Final[set[str]] = set()
_TAKEN: Final = {
    "initializer": "an initializer itself, such as tf.glorot_uniform_initializer(), or its name in tf.keras.initializers.",
    "regularizer": "a function of it, such as tf.contrib.layers.l2_regularizer(0.01), or a name of tf.keras.regularizers.",
    "constraint": "a function of the weight, such as tf.keras.constraints.NonNeg(), or a name in tf.keras.constraints.",
    "activation": "a function, such as tf.nn.relu, or its name in tf.keras.activations.",
}


def told_by(module: str) -> None:
    """Have this module imported before a name is first looked up: it calls `look_up_by`."""
    _TELLERS.add(module)


def look_up_by(**lookups: Callable[[Nest], Nest]) -> None:
    """Have `initializer`, `regularizer`, `constraint` and `activation` looked up by these functions."""
    _LOOKUPS.update(lookups)


def named(kind: str, given: Nest) -> Nest:
    """The object of a kind that a name or a config stands for; what can be called is itself, None is None.

    Raises:
        ValueError: nobody knows the name.
        TypeError: it is no object of the kind, and no name of one.
    """
    if given is None or callable(given):
        return given
    if kind not in _LOOKUPS:
        for module in _TELLERS:
            importlib.import_module(module)
    lookup = _LOOKUPS.get(kind)
    if lookup is None:
        return given
    try:
        return lookup(given)
    except (TypeError, ValueError) as error:
        # The rest of it is for those who load a model.
        told = str(error).partition(". An object of")[0].rstrip(".")
        raise type(error)(f"{told}{'' if told.endswith('?') else '.'} A layer takes {_TAKEN[kind]}") from None


def activation_of(given: Nest) -> Activation | None:
    """The activation that a layer is given, itself or by name; ValueError for what is none."""
    return named("activation", given)  # type: ignore[no-any-return]


def initializer_of(given: Nest) -> Initializer | None:
    """The initializer that a layer is given, itself or by name; ValueError for what is none."""
    return named("initializer", given)  # type: ignore[no-any-return]


def weight_options(given: WeightOptions) -> WeightOptions:
    """Initializer, regularizer and constraint of a weight, each itself or by name; ValueError for what is none."""
    initializer, regularizer, constraint = given
    return initializer_of(initializer), named("regularizer", regularizer), named("constraint", constraint)
