"""tf.lookup.experimental: tables that steps change. This module only re-exports."""

from __future__ import annotations

from weft.ops.lookup.tables import MutableDenseHashTable as DenseHashTable
from weft.ops.lookup.tables import MutableHashTable as MutableHashTable
