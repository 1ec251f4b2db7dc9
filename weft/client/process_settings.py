"""tf.config: which devices this process has and how it shall use them, for programs that say so before they make a session.

What is set here holds for the devices of the whole process, and must be set before they are started: by the first session,
server or `device_lib.list_local_devices()`. A ConfigProto given to a session has its own say on threads and placement.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from weft.framework.building.aliases import Nest
from weft.proto.messages import ConfigProto
from weft.runtime.xla import engine_options
from weft.runtime.xla.device import may_have_accelerators

_POLICIES: Final = ("silent", "silent_for_int32", "warn", "explicit")
_NODE: Final = re.compile(r"nvidia\d+")


class PhysicalDevice(NamedTuple):
    """A device of this host: its name, such as `/physical_device:GPU:0`, and its type."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as nodes are placed on it: its full name and its type."""

    name: str
    device_type: str


class VirtualDeviceConfiguration(NamedTuple):
    """One of several devices that a physical one is used as.

    Args:
        memory_limit: its memory in megabytes, for GPUs; None for no limit.
    """

    memory_limit: int | None = None


class _Settings:
    """What the program has set."""

    def __init__(self) -> None:
        self.visible: dict[str, list[PhysicalDevice]] = {}
        self.memory_growth: dict[PhysicalDevice, bool] = {}
        self.virtual: dict[PhysicalDevice, list[VirtualDeviceConfiguration]] = {}
        self.intra_op = 0
        self.inter_op = 0
        self.jit = False
        self.optimizer: dict[str, bool] = {"disable_model_pruning": False, "disable_meta_optimizer": False}
        self.soft_placement = False
        self.policy = "silent"
        self.synchronous = True


_settings: Final = _Settings()


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this host, whether or not they are visible; starts none of them.

        for gpu in tf.config.experimental.list_physical_devices("GPU"):
            tf.config.experimental.set_memory_growth(gpu, True)

    Args:
        device_type: "CPU" or "GPU"; all when None.
    """
    kinds = ["CPU", *["GPU"] * _gpus()]
    numbered = [
        PhysicalDevice(f"/physical_device:{kind}:{kinds[:place].count(kind)}", kind) for place, kind in enumerate(kinds)
    ]
    return [each for each in numbered if device_type in (None, each.device_type)]


def _gpus() -> int:
    """How many GPUs CUDA would show this process; asking CUDA itself would start it."""
    if not may_have_accelerators():
        return 0
    count = sum(_NODE.fullmatch(path.name) is not None for path in Path("/dev").iterdir())
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if allowed is None:
        return count
    named = [each.strip() for each in allowed.split(",")]
    # CUDA takes the list up to the first entry that is no device.
    until = next((place for place, each in enumerate(named) if each in ("", "-1")), len(named))
    return min(until, count)


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that nodes can be placed on, those that virtual ones were made of in their parts.

    Args:
        device_type: "CPU" or "GPU"; all when None.
    """
    found: list[LogicalDevice] = []
    for kind in ("CPU", "GPU"):
        parts = sum(len(_settings.virtual.get(each, (None,))) for each in get_visible_devices(kind))
        found += [LogicalDevice(f"/job:localhost/replica:0/task:0/device:{kind}:{number}", kind) for number in range(parts)]
    return [each for each in found if device_type in (None, each.device_type)]


def experimental_list_devices() -> list[str]:
    """The names of the devices that nodes can be placed on."""
    return [each.name for each in list_logical_devices()]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that this process may use.

    Args:
        device_type: "CPU" or "GPU"; all when None.
    """
    kinds = ("CPU", "GPU") if device_type is None else (device_type,)
    return [each for kind in kinds for each in _settings.visible.get(kind, list_physical_devices(kind))]


def set_visible_devices(devices: PhysicalDevice | Sequence[PhysicalDevice], device_type: str | None = None) -> None:
    """Let this process use these devices only; none of their type for an empty list.

    Args:
        devices: of those that `list_physical_devices` gives.
        device_type: the type that is meant, where not all.

    Raises:
        ValueError: a device is not there or of another type.
        RuntimeError: the devices are started already.
    """
    wanted = [devices] if isinstance(devices, PhysicalDevice) else list(devices)
    for each in wanted:
        _check_known(each)
        if device_type is not None and each.device_type != device_type:
            raise ValueError(f"Unrecognized device: {each!r}; a {device_type} is expected")
    chosen = {kind: [each for each in wanted if each.device_type == kind] for kind in ("CPU", "GPU")}
    chosen = {kind: found for kind, found in chosen.items() if device_type in (None, kind)}
    if all(get_visible_devices(kind) == found for kind, found in chosen.items()):
        return
    if engine_options.is_started():
        raise RuntimeError("Visible devices cannot be modified after being initialized")
    _settings.visible.update(chosen)
    gpus = chosen.get("GPU")
    if gpus == [] and list_physical_devices("GPU"):
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    elif gpus:
        config = ConfigProto()
        config.gpu_options.visible_device_list = ",".join(each.name.rpartition(":")[2] for each in gpus)
        engine_options.request(config)


def _check_known(device: Nest) -> None:
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}; there are {list_physical_devices()}")


def get_memory_growth(device: PhysicalDevice) -> bool | None:
    """Whether a GPU's memory is taken bit by bit; None where nothing was set.

    Args:
        device: the GPU, from `list_physical_devices`.

    Raises:
        ValueError: there is no such device.
    """
    _check_known(device)
    return _settings.memory_growth.get(device)


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Take the GPUs' memory bit by bit; XLA has one rule for all GPUs of a process.

    Args:
        device: a GPU, of those that `list_physical_devices` gives.
        enable: whether to.

    Raises:
        ValueError: there is no such device, or it is no GPU.
        RuntimeError: the devices are started already.
    """
    _check_known(device)
    if device in _settings.virtual:
        raise ValueError("Cannot set memory growth on device when virtual devices configured")
    if device.device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU devices")
    if _settings.memory_growth.get(device) == enable:
        return
    if engine_options.is_started():
        raise RuntimeError("Physical devices cannot be modified after being initialized")
    _settings.memory_growth[device] = enable
    config = ConfigProto()
    config.gpu_options.allow_growth = enable
    engine_options.request(config)


def get_virtual_device_configuration(device: PhysicalDevice) -> list[VirtualDeviceConfiguration] | None:
    """The parts that a device is used as; None where nothing was set.

    Args:
        device: the device, from `list_physical_devices`.

    Raises:
        ValueError: there is no such device.
    """
    _check_known(device)
    return _settings.virtual.get(device)


def set_virtual_device_configuration(device: PhysicalDevice, virtual_devices: Sequence[VirtualDeviceConfiguration]) -> None:
    """Use a device as several; sessions make so many CPU devices by `tf.ConfigProto(device_count={"CPU": n})`.

    Args:
        device: of those that `list_physical_devices` gives.
        virtual_devices: one for each part.

    Raises:
        ValueError: there is no such device, or a CPU has a memory limit.
        RuntimeError: the devices are started already.
    """
    _check_known(device)
    if device.device_type == "CPU" and any(each.memory_limit is not None for each in virtual_devices):
        raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    if device in _settings.memory_growth:
        raise ValueError("Cannot configure virtual devices when memory growth is set")
    if _settings.virtual.get(device) == list(virtual_devices):
        return
    if engine_options.is_started():
        raise RuntimeError("Virtual devices cannot be modified after being initialized")
    _settings.virtual[device] = list(virtual_devices)


def get_intra_op_parallelism_threads() -> int:
    """How many threads one node may use; 0 for as many as there are cores."""
    return _settings.intra_op


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Let one node use so many threads; 0 for as many as there are cores.

    Args:
        num_threads: the number.
    """
    _settings.intra_op = num_threads
    engine_options.request(ConfigProto(intra_op_parallelism_threads=num_threads))


def get_inter_op_parallelism_threads() -> int:
    """How many nodes run at a time; 0 for as many as there are cores."""
    return _settings.inter_op


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Let so many nodes run at a time; weft runs a step in the thread that asks for it, and keeps the number only.

    Args:
        num_threads: the number; 0 to let weft choose.
    """
    _settings.inter_op = num_threads


def get_jit() -> bool:
    """Whether compilation was asked for."""
    return _settings.jit


def set_jit(enabled: bool) -> None:
    """Ask for compilation; weft compiles steps by XLA in any case.

    Args:
        enabled: whether it is wanted.
    """
    _settings.jit = enabled


def get_experimental_options() -> dict[str, bool]:
    """The options of TensorFlow's graph optimizer that were set."""
    return dict(_settings.optimizer)


def set_experimental_options(options: Mapping[str, bool]) -> None:
    """Set options of TensorFlow's graph optimizer; they are kept, and XLA does this work in weft.

    Args:
        options: whether each, by name, is on.
    """
    _settings.optimizer.update(options)


def get_soft_device_placement() -> bool:
    """Whether `set_soft_device_placement` was asked for."""
    return _settings.soft_placement


def set_soft_device_placement(enabled: bool) -> None:
    """Ask for soft placement of what runs without a session; sessions have `ConfigProto.allow_soft_placement`.

    Args:
        enabled: whether it is wanted.
    """
    _settings.soft_placement = enabled


def get_device_policy() -> str:
    """What is done of tensors on another device than the op's, without a session: "silent" copies them."""
    return _settings.policy


def set_device_policy(device_policy: str | None) -> None:
    """Choose what is done of tensors on another device than the op's; sessions copy them in any case.

    Args:
        device_policy: the policy; the first one when None.

    Raises:
        ValueError: it is none of "silent", "silent_for_int32", "warn" and "explicit".
    """
    if device_policy is not None and device_policy not in _POLICIES:
        raise ValueError(f"Not a valid device policy: {device_policy!r}; there are {', '.join(_POLICIES)}")
    _settings.policy = device_policy or "silent"


def get_synchronous_execution() -> bool:
    """Whether ops that run without a session are waited for."""
    return _settings.synchronous


def set_synchronous_execution(enable: bool | None) -> None:
    """Choose whether ops that run without a session are waited for; `Session.run` waits in any case.

    Args:
        enable: whether they are waited for.
    """
    _settings.synchronous = enable is None or enable


def experimental_run_functions_eagerly(run_eagerly: bool) -> None:
    """Nothing: functions are part of the graph that calls them, for programs that choose so before they build it.

    Args:
        run_eagerly: False; or True, with which a program of TensorFlow that builds graphs runs as without.
    """
