"""Names of layers and models: unique in a graph, by a number behind them.

The layers of tf.layers, cells of recurrent networks and what tf.keras has share the numbers. They lie in a collection of the
graph whose key is no string, so that no MetaGraph shows it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container
from typing import Final

from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import get_default_graph

_KEY: Final[Nest] = ("layer names",)


def _uids() -> Counter[str]:
    held = get_default_graph().get_collection_ref(_KEY)
    if not held:
        held.append(Counter())
    found: Counter[str] = held[0]
    return found


def get_uid(prefix: str = "") -> int:
    """The next number for a prefix in the default graph, from 1.

    Args:
        prefix: a name; each has numbers of its own.
    """
    uids = _uids()
    uids[prefix] += 1
    return uids[prefix]


def reset_uids() -> None:
    """Count from 1 again in the default graph."""
    _uids().clear()


def snake_case(name: str) -> str:
    """The name of a class as that of an object: LeakyReLU gives leaky_re_lu."""
    parted = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    snake = re.sub(r"([a-z])([A-Z])", r"\1_\2", parted).lower()
    return f"private{snake}" if snake.startswith("_") else snake


def unique_name(name: str, zero_based: bool = False, avoid: Container[str] = ()) -> str:
    """The name with the next number behind it; the first has none if `zero_based`."""
    while True:
        number = get_uid(name) - zero_based
        proposed = name if number == 0 else f"{name}_{number}"
        if proposed not in avoid:
            return proposed
