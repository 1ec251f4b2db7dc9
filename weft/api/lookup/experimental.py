"""tf.lookup.experimental: tables that steps change. This module only re-exports."""

from __future__ import annotations

from weft.ops.lookup.tables import MutableDenseHashTable as _MutableDenseHashTable
from weft.ops.lookup.tables import MutableHashTable as MutableHashTable

# Under a name of its own: type checkers take a renamed import for the module's private business.
DenseHashTable = _MutableDenseHashTable
