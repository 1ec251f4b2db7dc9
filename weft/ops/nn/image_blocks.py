"""Functions of images, of some at a time: what is made on the way stays in the cache, or takes only so much memory."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import Array
from weft.platform.imports.jax_modules import jnp, lax


def block_by_block(compute: Callable[[Array], Array], x: Array, size: int) -> Array:
    """The results of `compute` for the images, so many at a time."""
    whole = x.shape[0] // size * size
    if whole <= size:
        return compute(x)
    made = lax.map(compute, _blocks(x, size))
    made = made.reshape(-1, *made.shape[2:])
    return made if whole == x.shape[0] else jnp.concatenate([made, compute(x[whole:])])


def sum_of_blocks(compute: Callable[..., Array], size: int, *arrays: Array) -> Array:
    """The sum of what `compute` makes of so many images of each array at a time."""
    count = arrays[0].shape[0]
    whole = count // size * size
    if whole <= size:
        return compute(*arrays)
    blocks = [_blocks(array, size) for array in arrays]
    first = compute(*(block[0] for block in blocks))
    total, _ = lax.scan(lambda sum, block: (sum + compute(*block), None), first, [block[1:] for block in blocks])
    return total if whole == count else total + compute(*(array[whole:] for array in arrays))


def _blocks(array: Array, size: int) -> Array:
    """The array in blocks of this many images, without those left over at the end."""
    count = array.shape[0] // size
    return array[: count * size].reshape(count, size, *array.shape[1:])
