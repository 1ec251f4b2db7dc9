"""How much memory of its devices this process uses, as far as JAX tells; asks nothing that would start JAX."""

from __future__ import annotations

from weft.framework.building.op_context import DeviceMemory
from weft.platform.process.process_memory import peak_resident_bytes, physical_bytes, resident_bytes
from weft.runtime.xla import engine_options
from weft.runtime.xla.device import accelerators, jax_device


def memory_of_devices() -> dict[str, tuple[int, int]]:
    """By device, such as `GPU:0`, the bytes in use and the bytes that there are; empty without accelerators."""
    if not engine_options.uses_accelerators():
        return {}
    found = {}
    for kind, devices in accelerators().items():
        for index, device in enumerate(devices):
            stats = device.memory_stats() or {}
            found[f"{kind}:{index}"] = int(stats.get("bytes_in_use", 0)), int(stats.get("bytes_limit", 0))
    return found


def memory_of(device: str) -> DeviceMemory:
    """The memory of a device: an accelerator's as JAX counts it; a CPU's is what the process has of the machine's.

    Args:
        device: its full name.
    """
    found = jax_device(device)
    stats = {} if found is None or found.platform == "cpu" else found.memory_stats() or {}
    if not stats:
        return DeviceMemory(resident_bytes(), peak_resident_bytes(), physical_bytes())
    return DeviceMemory(*(int(stats.get(name, 0)) for name in ("bytes_in_use", "peak_bytes_in_use", "bytes_limit")))
