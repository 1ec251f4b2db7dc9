"""tf.contrib.memory_stats: the memory of the device that a node is on. This module only re-exports."""

from __future__ import annotations

from weft.ops.process.memory import bytes_in_use as _bytes_in_use
from weft.ops.process.memory import bytes_limit as _bytes_limit
from weft.ops.process.memory import max_bytes_in_use as _max_bytes_in_use

BytesInUse = _bytes_in_use
BytesLimit = _bytes_limit
MaxBytesInUse = _max_bytes_in_use
