"""The folder of compiled code: another worker, a restart and tomorrow's run find what XLA has made of the same stage.

It is JAX's own cache, by the code that XLA is given and its options: tracing and lowering remain, and what is read back takes
a twentieth of the time of a compilation (3 against 60 ms of CPU and more). weft adds what JAX leaves to its user: the folder is
the user's alone, since what lies in it is run; code for another processor or JAX lies apart; what has not been used for longest
goes when there is too much. Several processes may use it at once: an entry is written once, and one that cannot be read is
compiled.

It is asked for by the environment, and not there by default: it holds for all that the process has JAX compile. Loops are
compiled each time, since they call the process back.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from weft.platform.imports.jax_modules import jax
from weft.platform.logs import tf_logging

VARIABLE: Final = "WEFT_CODE_CACHE"
"""Names the folder."""

LIMIT_BYTES: Final = 512 << 20
_LEAST_S: Final = 0.05
"""What compiles in less is not kept: to write and to read it takes as long."""
_HIT: Final = "/jax/compilation_cache/cache_hits"


class CacheHits:
    """How often code was found in the folder, in this process; there is one object, `cache_hits`."""

    def __init__(self) -> None:
        self.count = 0

    def note(self, event: str, **_: object) -> None:
        """Take note of what JAX tells."""
        if event == _HIT:
            self.count += 1


cache_hits: Final = CacheHits()


def use_code_cache(environment: Mapping[str, str]) -> None:
    """Have JAX use the folder that the environment names, if any; before it compiles. Not where the program has chosen one."""
    named = environment.get(VARIABLE)
    if not named:
        return
    jax.monitoring.register_event_listener(cache_hits.note)
    if jax.config.jax_compilation_cache_dir:  # type: ignore[attr-defined]
        return
    folder = Path(named).expanduser() / f"jax-{jax.__version__}-{_processor()}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_own(folder)
        trim(folder, LIMIT_BYTES)
    except OSError as error:
        tf_logging.warning("%s=%s is not used, stages are compiled: %s", VARIABLE, named, error)
        return
    for name, value in (
        ("jax_compilation_cache_dir", str(folder)),
        ("jax_persistent_cache_min_compile_time_secs", _LEAST_S),
    ):
        jax.config.update(name, value)  # type: ignore[no-untyped-call]


def trim(folder: Path, limit_bytes: int) -> None:
    """Remove what was not used for longest until so many bytes are left. Others may do so at the same time."""
    entries = []
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            found = path.stat()
            entries.append((max(found.st_atime, found.st_mtime), found.st_size, path))
    left = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if left <= limit_bytes:
            return
        path.unlink(missing_ok=True)
        left -= size


def _check_own(folder: Path) -> None:
    """Raise PermissionError if another user could put code there."""
    found = folder.stat()
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o022):
        raise PermissionError(
            f"{folder} belongs to user {found.st_uid} and has mode {found.st_mode & 0o777:o}; it must be this user's "
            f"({os.getuid()}), and nobody else may write there: chmod 700"
        )


def _processor() -> str:
    """What tells processors apart that may not run each other's code."""
    features = platform.machine()
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
        features += next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return hashlib.sha256(features.encode()).hexdigest()[:12]
