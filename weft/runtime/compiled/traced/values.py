"""Values in branches and loops, whether they are known or traced: predicates and types."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Array
from weft.platform.imports.jax_modules import jax, jnp


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
