"""What a process holds: threads, descriptors, sockets, memory, and weft's objects by class."""

from __future__ import annotations

import gc
import os
import time
from collections import Counter
from dataclasses import dataclass, field

# The bounded memories of a process fill up to their limits.
_OBJECTS_PER_CASE = 0.02
_OBJECTS_AT_LEAST = 12
# Memories that are bounded: a task remembers so many steps that are over, that late tensors of theirs may be dropped.
_REMEMBERED = {"weft.protocol.rendezvous_table._Entry": 4096 + 64}
_THREADS, _DESCRIPTORS = 6, 6
_RESIDENT_BYTES = 24 << 20


@dataclass(frozen=True)
class Footprint:
    """What one process held at one moment, and had used."""

    threads: int
    descriptors: int
    sockets: int
    resident_bytes: int
    objects: dict[str, int] = field(default_factory=dict)
    cpu_s: float = 0.0
    """Processor time until then."""
    own_cpu_s: float = 0.0
    """What measuring took of it behind that."""


def take() -> Footprint:
    """Measure this process, after a collection."""
    cpu_s = time.process_time()
    gc.collect()
    # A class may say nothing, or something else than text, of its module.
    named = ((str(type(each).__module__), type(each).__qualname__) for each in gc.get_objects())
    objects = Counter(f"{module}.{name}" for module, name in named if module.startswith("weft."))
    status = {}
    with open("/proc/self/status") as file:
        for line in file:
            key, _, value = line.partition(":")
            status[key] = value.strip()
    links = [_link(name) for name in os.listdir("/proc/self/fd")]
    return Footprint(
        threads=int(status["Threads"]),
        descriptors=len(links),
        sockets=sum(link.startswith("socket:") for link in links),
        resident_bytes=int(status["VmRSS"].split()[0]) * 1024,
        objects=dict(objects),
        cpu_s=cpu_s,
        own_cpu_s=time.process_time() - cpu_s,
    )


def _link(name: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{name}")
    except OSError:
        return ""


def growth(before: Footprint, after: Footprint, cases: int) -> list[str]:
    """What grew by more than chance between two moments with so many cases in between; empty where nothing is left."""
    allowed = max(_OBJECTS_AT_LEAST, int(cases * _OBJECTS_PER_CASE))
    problems = [
        f"{count - before.objects.get(name, 0)} more objects {name}"
        for name, count in sorted(after.objects.items())
        if count - before.objects.get(name, 0) > allowed and count > _REMEMBERED.get(name, 0)
    ]
    for what, old, new, limit in (
        ("threads", before.threads, after.threads, _THREADS),
        ("descriptors", before.descriptors, after.descriptors, _DESCRIPTORS),
        ("sockets", before.sockets, after.sockets, _DESCRIPTORS),
        ("MiB of resident memory", before.resident_bytes >> 20, after.resident_bytes >> 20, _RESIDENT_BYTES >> 20),
    ):
        if new - old > limit:
            problems.append(f"{new - old} more {what}: {new}, {old} before")
    return problems
