"""Small results of compiled code that only leave the task, joined into one array of each type before they leave the code.

XLA makes an array object for each result, NumPy another one to look at it, and both are freed again: some 3 µs for a gradient
of ten numbers. Joining costs the copy, and the message that takes the results away joins them anyway.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np

from weft.framework.building.aliases import Array
from weft.platform.imports.jax_modules import jax, jnp
from weft.protocol.array_runs import JoinedArrays
from weft.protocol.tensor_blob import COPIED_BYTES

_LEAST: Final = 8  # fewer results of one type stay as they are
_Recipe: TypeAlias = tuple[int, tuple[int, ...], tuple[tuple[tuple[int, ...], JoinedArrays], ...]]


class LeavingValues:
    """A compiled function's outputs, some of them joined. JAX takes it apart and puts it together again, once it is told how.

    Args:
        kept: the outputs that are as they were.
        joined: the flat arrays.
        recipe: how many outputs there are; the places of those kept; for each flat array the places and how they lie in it.
    """

    def __init__(self, kept: Sequence[Array], joined: Sequence[Array], recipe: _Recipe) -> None:
        self._kept = kept
        self._joined = joined
        self._recipe = recipe

    def tree_flatten(self) -> tuple[tuple[Sequence[Array], Sequence[Array]], _Recipe]:
        """For JAX: the arrays, and the recipe, which is known without running."""
        return (self._kept, self._joined), self._recipe

    @classmethod
    def tree_unflatten(cls, recipe: _Recipe, arrays: tuple[Sequence[Array], Sequence[Array]]) -> LeavingValues:
        """For JAX: the opposite of `tree_flatten`."""
        kept, joined = arrays
        return cls(kept, joined, recipe)

    def values(self) -> list[Array]:
        """The outputs in order; waits for those that were joined, which come as NumPy arrays."""
        count, kept, groups = self._recipe
        outputs: list[Array] = [None] * count
        for place, value in zip(kept, self._kept, strict=True):
            outputs[place] = value
        for (places, joint), flat in zip(groups, self._joined, strict=True):
            for place, value in zip(places, joint.split(np.asarray(flat)), strict=True):
                outputs[place] = value
        return outputs


class _Registration:
    """Tells JAX of `LeavingValues`, once; safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_done = False

    def ensure(self) -> None:
        """Have JAX know of it, before a traced function returns one."""
        with self._lock:
            if not self._is_done:
                jax.tree_util.register_pytree_node_class(LeavingValues)
                self._is_done = True


_REGISTRATION: Final = _Registration()


def join(outputs: list[Array], leaving: Sequence[int]) -> list[Array] | LeavingValues:
    """Join, in code that is being traced, those of the outputs at the places `leaving` that are small and many."""
    by_type: dict[object, list[int]] = {}
    for place in leaving:
        if outputs[place].nbytes <= COPIED_BYTES:
            by_type.setdefault(outputs[place].dtype, []).append(place)
    groups = [places for places in by_type.values() if len(places) >= _LEAST]
    if not groups:
        return outputs
    gone = {place for places in groups for place in places}
    kept = [place for place in range(len(outputs)) if place not in gone]
    flat = [jnp.concatenate([outputs[place].reshape(-1) for place in places]) for places in groups]
    _REGISTRATION.ensure()
    lying = tuple((tuple(places), JoinedArrays([outputs[place].shape for place in places])) for places in groups)
    return LeavingValues([outputs[place] for place in kept], flat, (len(outputs), tuple(kept), lying))
