"""tf.sets: the last dimensions of tensors as sets."""

from __future__ import annotations

from weft.ops.sparse.set_operations import set_difference as set_difference
from weft.ops.sparse.set_operations import set_intersection as set_intersection
from weft.ops.sparse.set_operations import set_size as set_size
from weft.ops.sparse.set_operations import set_union as set_union

# Under a name of its own: type checkers take a renamed import for the module's private business.
difference = set_difference
intersection = set_intersection
size = set_size
union = set_union

__all__ = [
    "difference", "intersection", "set_difference", "set_intersection", "set_size", "set_union", "size", "union",
]  # fmt: skip
