"""Values in branches and loops, whether they are known or traced: predicates, types, and the indices of random nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.framework.aliases import Array
from weft.platform.jax_modules import jax, jnp

_GOLDEN: Final = 0x9E3779B97F4A7C15


def mixed(run_indices: Sequence[Array], iteration: Array) -> Sequence[Array]:
    """Indices for the random nodes of one iteration: others than those of any other iteration or run."""
    if not run_indices:
        return run_indices
    with np.errstate(all="ignore"):
        step = iteration + 1 if isinstance(iteration, int) else iteration + np.uint64(1)
        step = np.uint64(step) if isinstance(step, int) else step
        return [index * np.uint64(_GOLDEN) + step for index in run_indices]


def is_true(value: Array) -> bool:
    """A predicate's value; as in TensorFlow, a number is true unless it is zero, anything else when it is not empty."""
    array = np.asarray(value)
    if array.ndim:
        return array.size > 0
    return bool(array)


def truth(value: Array) -> Array:
    """A predicate as a traced bool, or as a Python bool where it is known."""
    if not is_traced(value):
        return is_true(value)
    return jnp.asarray(value.size > 0) if value.ndim else value != 0 if value.dtype != np.bool_ else value


def is_traced(value: Array) -> bool:
    """Whether a value is not known while tracing."""
    return isinstance(value, jax.core.Tracer)


def as_array(value: Array, dtype: np.dtype | None = None) -> Array:
    """A JAX array of the type given, or of its own."""
    return jnp.asarray(value, value.dtype if dtype is None else dtype)
