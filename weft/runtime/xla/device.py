"""The devices of this process, under the names that placement uses."""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Mapping
from typing import Final

from weft.framework.devices.device_spec import DeviceSpec
from weft.platform.imports.jax_modules import jax
from weft.runtime.xla import engine_options
from weft.runtime.xla.xla_process import start

# Packages whose presence means that there may be an accelerator. Without them the question is settled without starting XLA.
_PLUGINS: Final = ("jax_cuda12_plugin", "jax_cuda13_plugin", "jax_rocm60_plugin", "jax_rocm7_plugin", "libtpu")

PARAMETER_SERVER: Final = "ps"


def local_device_names(job: str, task: int, device_count: Mapping[str, int] | None = None) -> list[str]:
    """Full names of this process's devices as those of a task: the CPUs, then the accelerators.

    `device_count` is ConfigProto's: CPU devices to make (default 1), and a limit for other types. A parameter server has no
    accelerators unless it says how many: it would take their memory from the workers. Starts the engine only when accelerators
    are wanted, a plugin for them is installed and the platforms are not limited to the CPU.
    """
    counts = {kind.upper(): number for kind, number in (device_count or {}).items()}
    names = [_name(job, task, "CPU", index) for index in range(max(counts.get("CPU", 1), 1))]
    wanted = counts.get("GPU", 0 if job == PARAMETER_SERVER else None)
    if wanted == 0:
        return names
    for kind, devices in accelerators().items():
        names += [_name(job, task, kind, index) for index in range(min(len(devices), counts.get(kind, len(devices))))]
    return names


def accelerators() -> dict[str, list[jax.Device]]:
    """The JAX devices that are not CPUs, by type in upper case."""
    if not may_have_accelerators():
        return {}
    start(uses_accelerators=True)
    found: dict[str, list[jax.Device]] = {}
    for device in sorted(jax.local_devices(), key=_visible_place):
        if device.platform != "cpu":
            found.setdefault(device.platform.upper().replace("CUDA", "GPU").replace("ROCM", "GPU"), []).append(device)
    return found


def jax_device(name: str) -> jax.Device | None:
    """The JAX device behind a device's full name; None where there is nothing to choose, on a process that has only CPUs."""
    if not engine_options.uses_accelerators():
        return None
    spec = DeviceSpec.from_string(name)
    if spec.device_type == "CPU":
        return jax.local_devices(backend="cpu")[0]
    return accelerators()[str(spec.device_type)][int(spec.device_index or 0)]


def _visible_place(device: jax.Device) -> tuple[int, int]:
    """Where a device stands: as the list of visible ones says, or by its number."""
    order = engine_options.visible_order()
    number = int(device.id if device.local_hardware_id is None else device.local_hardware_id)
    return (order.index(number) if number in order else len(order), int(device.id))


def may_have_accelerators() -> bool:
    """Whether a plugin for accelerators is installed and not ruled out."""
    platforms = os.environ.get("JAX_PLATFORMS", "")
    if platforms and all(platform.strip() == "cpu" for platform in platforms.split(",")):
        return False
    return _has_plugin()


@functools.cache
def _has_plugin() -> bool:
    """Whether one is installed. To look takes milliseconds, and each session asks."""
    return any(importlib.util.find_spec(plugin) is not None for plugin in _PLUGINS)


def _name(job: str, task: int, kind: str, index: int) -> str:
    return DeviceSpec(job, 0, task, kind, index).to_string()
