"""EngineOptions: what a ConfigProto says about XLA's memory and threads, which can be set only before XLA starts.

XLA has one client per process. Whoever makes the first session or server of a process may therefore choose; the wish of a
later one is granted as long as nothing has been compiled and no accelerator was looked for. After that a wish that differs is
told to have come too late, rather than be dropped silently.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from weft.errors import InvalidArgumentError
from weft.platform.imports.jax_modules import jax
from weft.platform.logs import tf_logging
from weft.platform.machine.product_threads import product_threads


@dataclass(frozen=True)
class EngineOptions:
    """The settings of XLA's client.

    `cpu_threads` is how many threads one compiled CPU stage may use, 0 for this process's share of the cores: all of them,
    unless it is one of several tasks that compute on this host. `memory_fraction` is the part of each GPU's memory to take,
    0.0 for XLA's default of three quarters. `allow_growth` takes it bit by bit.
    `visible_devices` lists the GPUs to use, such as "1,0", counted among those that CUDA_VISIBLE_DEVICES leaves.
    """

    cpu_threads: int = 0
    memory_fraction: float = 0.0
    allow_growth: bool = False
    visible_devices: str = ""

    @staticmethod
    def of(config: Any) -> EngineOptions:
        """The options that a ConfigProto has."""
        gpu = config.gpu_options
        return EngineOptions(
            max(config.intra_op_parallelism_threads, 0), gpu.per_process_gpu_memory_fraction, gpu.allow_growth,
            gpu.visible_device_list,
        )  # fmt: skip


_CPU_ONLY: Final = ("cpu_threads",)
_SETTINGS: Final = {
    "cpu_threads": "intra_op_parallelism_threads",
    "memory_fraction": "gpu_options.per_process_gpu_memory_fraction",
    "allow_growth": "gpu_options.allow_growth",
    "visible_devices": "gpu_options.visible_device_list",
}


class _Process:
    """What was asked for in this process, and whether it can still be had."""

    def __init__(self) -> None:
        self.wanted = EngineOptions()
        self.is_started = False
        self.uses_accelerators = False
        self.told: set[str] = set()
        self.servers = 0  # in this process
        self.tasks_on_host = 0


_process: Final = _Process()


def request(config: object) -> None:
    """Ask for a session's or server's options; a warning says once which of them come too late."""
    if config is None:
        return
    asked = EngineOptions.of(config)
    changes = {
        field.name: getattr(asked, field.name)
        for field in fields(EngineOptions)
        if getattr(asked, field.name) not in (field.default, getattr(_process.wanted, field.name))
    }
    if "cpu_threads" in changes:
        product_threads.set_most(asked.cpu_threads)
    if not _process.is_started:
        _process.wanted = replace(_process.wanted, **changes)
        return
    for name, value in changes.items():
        if name in _CPU_ONLY or _process.uses_accelerators:
            _tell_too_late(name, value)


def share_cores(tasks_on_host: int) -> None:
    """Take note of a server of this process, whose cluster has so many tasks that compute on this host."""
    _process.servers += 1
    _process.tasks_on_host = max(_process.tasks_on_host, tasks_on_host)


def _share() -> int:
    """How many cores this process shall use; 0 for all."""
    if not 0 < _process.servers < _process.tasks_on_host or "NPROC" in os.environ:
        return 0
    # Threads beyond the cores make nothing faster, and every small stage pays for waking them.
    return -(-_cores() * _process.servers // _process.tasks_on_host)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _tell_too_late(name: str, value: object) -> None:
    setting = _SETTINGS[name]
    if setting in _process.told:
        return
    _process.told.add(setting)
    tf_logging.warning(
        "ConfigProto.%s=%r has no effect: this process has started its devices already, with %r. Give the setting to the first "
        "Server or Session of the process.",
        setting, value, getattr(_process.wanted, name),
    )  # fmt: skip


def is_started() -> bool:
    """Whether this process has started its devices."""
    return _process.is_started


def uses_accelerators() -> bool:
    """Whether XLA was started with the accelerators that there are."""
    return _process.uses_accelerators


def visible_order() -> list[int]:
    """The numbers of the GPUs to use in the order in which the program counts them; empty for all.

    Raises:
        InvalidArgumentError: the list is not one of numbers, or a number is there twice.
    """
    entries = [entry.strip() for entry in _process.wanted.visible_devices.split(",") if entry.strip()]
    for entry in entries:
        if not entry.isdigit():
            raise InvalidArgumentError.of(
                f"Could not parse entry in 'visible_device_list': '{entry}'. visible_device_list = "
                f"{_process.wanted.visible_devices}"
            )
    if len(set(entries)) < len(entries):
        raise InvalidArgumentError.of(f"visible_device_list contained a duplicate entry: {_process.wanted.visible_devices}")
    return [int(entry) for entry in entries]


def start(uses_accelerators: bool, start_clients: Callable[[], object]) -> None:
    """Start XLA's clients under the options that were asked for; later calls do nothing.

    Args:
        uses_accelerators: whether anyone looked for them. When not, XLA is kept to the CPU: a parameter server must not take
            the memory of a GPU that its workers use.
        start_clients: starts them.
    """
    if _process.is_started:
        return
    order = visible_order() if uses_accelerators else []
    _process.is_started = True
    _process.uses_accelerators = uses_accelerators
    if order:
        jax.config.update("jax_cuda_visible_devices", ",".join(map(str, sorted(order))))  # type: ignore[no-untyped-call]
    limit_platforms(uses_accelerators)
    with environment():
        start_clients()


def limit_platforms(uses_accelerators: bool) -> None:
    """Keep XLA to the CPU where nobody has asked for accelerators."""
    if not uses_accelerators and not os.environ.get("JAX_PLATFORMS"):
        jax.config.update("jax_platforms", "cpu")  # type: ignore[no-untyped-call]


@contextmanager
def environment() -> Iterator[None]:
    """What XLA's clients read when they are made, and only then; children of this process are not to inherit it."""
    options = _process.wanted
    settings = {}
    if threads := options.cpu_threads or _share():
        settings["NPROC"] = str(threads)
    if options.memory_fraction:
        settings["XLA_PYTHON_CLIENT_MEM_FRACTION"] = str(options.memory_fraction)
    if options.allow_growth:
        settings["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
