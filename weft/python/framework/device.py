"""tensorflow.python.framework.device, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.framework.device_spec import DeviceSpec as DeviceSpec
