"""What the system lets a process have: descriptors, locked memory, memory to share."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from typing import Final

from weft.channel.shared_memory.segment import IS_SUPPORTED
from weft.cli.columns import size_text
from weft.cli.doctor.finding import Finding, warning

# A task has some descriptors for each task and each client, and for each file that it reads; XLA has hundreds.
_FEW_FILES: Final = 4096
# What drivers of accelerators and network cards lock in memory at once.
_LITTLE_LOCKED_BYTES: Final = 64 * 1024
_SHARED_BYTES: Final = 1 << 20
_SHARED_FOLDER: Final = "/dev/shm"
# What containers are given unless they ask for more.
_LITTLE_SHARED_BYTES: Final = 64 << 20


def of_process() -> Iterator[Finding]:
    """The limits that a process here starts with."""
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY or files >= _FEW_FILES:
        yield Finding("open files", f"at most {_limit(files)}")
    else:
        better = _FEW_FILES if most == resource.RLIM_INFINITY else min(_FEW_FILES, most)
        hard = "LimitNOFILE= of systemd, or 'nofile' in /etc/security/limits.conf: this process may not raise it"
        remedy = f"ulimit -n {better}, or LimitNOFILE= of systemd" if better > files else hard
        yield warning("open files", f"at most {files}, few for a cluster of many tasks and clients", remedy)
    locked, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    told = "no limit" if locked == resource.RLIM_INFINITY else f"at most {size_text(locked)}"
    if locked != resource.RLIM_INFINITY and locked < _LITTLE_LOCKED_BYTES:
        yield warning("locked memory", told, "ulimit -l unlimited: drivers of GPUs and fast networks lock what they transfer")
    else:
        yield Finding("locked memory", told)


def shared_memory() -> Finding:
    """Whether tasks of this host can share memory, by which large tensors go from one to the other without a copy."""
    if not IS_SUPPORTED:
        return warning("shared memory", "this system has no memfd_create", "none is needed: tensors go through sockets")
    try:
        descriptor = os.memfd_create("weft-doctor", os.MFD_CLOEXEC)
        try:
            os.posix_fallocate(descriptor, 0, _SHARED_BYTES)
        finally:
            os.close(descriptor)
    except OSError as error:
        is_forbidden = error.errno in (errno.EPERM, errno.ENOSYS)
        cause = "a sandbox forbids it" if is_forbidden else "the container's memory may be used up"
        return warning("shared memory", f"cannot be had: {error.strerror}", f"{cause}; without it tensors go through sockets")
    return Finding("shared memory", "can be had")


def shared_folder() -> Iterator[Finding]:
    """The size of the folder by which other libraries share memory; nothing where the system has none."""
    try:
        found = os.statvfs(_SHARED_FOLDER)
    except OSError:
        return
    size, free = found.f_frsize * found.f_blocks, found.f_frsize * found.f_bavail
    told = f"{size_text(free)} of {size_text(size)} are free"
    if free <= _LITTLE_SHARED_BYTES:
        remedy = "docker run --shm-size=1g, or on Kubernetes an emptyDir of medium Memory; weft's own tensors need none"
        yield warning(_SHARED_FOLDER, f"{told}, little for NCCL between GPUs and for other libraries", remedy)
    else:
        yield Finding(_SHARED_FOLDER, told)


def _limit(value: int) -> str:
    return "any number" if value == resource.RLIM_INFINITY else f"{value:,}"
