"""tensorflow.python.client.device_lib, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.client.device_lib import list_local_devices as list_local_devices
