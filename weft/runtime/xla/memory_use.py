"""How much memory of accelerators this process uses, as far as JAX tells; asks nothing that would start JAX."""

from __future__ import annotations

from weft.runtime.xla import engine_options
from weft.runtime.xla.device import accelerators


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
