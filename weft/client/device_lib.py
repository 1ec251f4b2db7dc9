"""device_lib: which devices this process has, for programs that ask before they build a graph."""

from __future__ import annotations

import secrets
from typing import Any

from weft.framework.devices.device_spec import DeviceSpec
from weft.proto.device_attributes_pb2 import DeviceAttributes
from weft.runtime.xla.device import accelerators, local_device_names

_CPU_MEMORY_BYTES = 256 << 20


def list_local_devices(session_config: Any = None) -> list[Any]:
    """The devices of this process as DeviceAttributes protos, the CPU first; names as in `/device:GPU:0`.

    Starts the engine when an accelerator may be there.

    Args:
        session_config: a ConfigProto whose `device_count` limits the devices.

    Returns:
        A list of DeviceAttributes.
    """
    counts = None if session_config is None else session_config.device_count
    return [_attributes(DeviceSpec.from_string(name)) for name in local_device_names("localhost", 0, counts)]


def _attributes(spec: DeviceSpec) -> DeviceAttributes:
    kind, index = str(spec.device_type), int(spec.device_index or 0)
    name = f"/device:{kind}:{index}"
    made = DeviceAttributes(
        name=name, device_type=kind, memory_limit=_CPU_MEMORY_BYTES, incarnation=secrets.randbits(63) + 1, xla_global_id=-1
    )
    if kind != "CPU":
        device = accelerators()[kind][index]
        made.memory_limit = int((device.memory_stats() or {}).get("bytes_limit", 0))
        made.physical_device_desc = f"device: {index}, name: {device.device_kind}"
    return made
