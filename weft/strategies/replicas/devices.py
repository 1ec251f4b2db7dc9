"""The names of replicas' devices: in full, local ones, and those of a cluster's tasks."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.context import scopes
from weft.framework.devices.device_spec import DeviceSpec, canonical_name
from weft.framework.graphs.graph import get_default_graph
from weft.runtime.xla.device import accelerators


def resolved(device: str) -> str:
    """The name with all of its parts but the job, which only a cluster's devices have; task 0's first CPU where it has none."""
    spec = DeviceSpec.from_string(canonical_name(device))
    kind = spec.device_type or "CPU"
    return DeviceSpec(spec.job, spec.replica or 0, spec.task or 0, kind, spec.device_index or 0).to_string()


def local_devices(num_gpus: int) -> tuple[str, ...]:
    """So many GPUs of this process; its CPU where it is none."""
    if not num_gpus:
        return ("/device:CPU:0",)
    return tuple(f"/device:GPU:{index}" for index in range(num_gpus))


def gpus_here() -> int:
    """How many GPUs this process has."""
    return len(accelerators().get("GPU", ()))


def checked_devices(devices: Sequence[str]) -> tuple[str, ...]:
    """The devices by their full names.

    Raises:
        ValueError: there is none, two are the same, or one is a device of another task.
    """
    if isinstance(devices, str):
        raise ValueError(f"devices: a list of device names is wanted, got the string {devices!r}")
    found = tuple(resolved(each) for each in devices)
    if not found:
        raise ValueError("Must specify at least one device.")
    if len(set(found)) < len(found):
        raise ValueError(f"No duplicates allowed in `devices` argument: {found}")
    for each in found:
        if DeviceSpec.from_string(each).job not in (None, "localhost"):
            raise ValueError(
                f"In-graph multi-worker training with `MirroredStrategy`, or another strategy of one task, is not supported: "
                f"{each} is a device of another task. Name local devices, and use "
                "tf.distribute.experimental.MultiWorkerMirroredStrategy for several workers."
            )
    return found


def device_in_scope() -> str:
    """The full name of the device that the open scopes ask for; of the first CPU where they ask for none."""
    return resolved(scopes.current(get_default_graph()).device_name or "/device:CPU:0")


def cpus_needed(devices: Sequence[str]) -> int:
    """How many logical CPU devices a session must have for these."""
    specs = [DeviceSpec.from_string(each) for each in devices]
    return max((1 + (each.device_index or 0) for each in specs if each.device_type == "CPU"), default=0)
