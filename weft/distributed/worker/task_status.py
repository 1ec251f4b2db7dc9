"""TaskStatus: the answer of a task that is asked how it is."""

from __future__ import annotations

from dataclasses import dataclass

from weft.framework.devices.device_attributes import DeviceAttributes


@dataclass(frozen=True, slots=True)
class TaskStatus:
    """What a task says of itself."""

    devices: tuple[DeviceAttributes, ...]
    incarnation: int
