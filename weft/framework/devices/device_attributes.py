"""DeviceAttributes: what a task tells of one of its devices."""

from __future__ import annotations

from dataclasses import dataclass

from weft.framework.devices import device_spec


@dataclass(frozen=True, slots=True)
class DeviceAttributes:
    """A device's full name, its memory limit in bytes (0: unknown) and its task's incarnation, which is never 0."""

    name: str
    memory_limit_bytes: int
    incarnation: int

    @property
    def device_type(self) -> str:
        """The type in upper case, such as CPU."""
        return device_spec.device_type(self.name) or ""

    def __repr__(self) -> str:
        return f"_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit_bytes}, {self.incarnation})"
