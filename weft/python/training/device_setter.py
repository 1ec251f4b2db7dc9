"""tensorflow.python.training.device_setter, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.train.device_setter import replica_device_setter as replica_device_setter
