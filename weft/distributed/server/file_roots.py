"""Which files the graphs that run on a server may touch: what it was started with, or a safe default."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

from weft.platform.files.file_access import FileAccess
from weft.platform.hosts.local_address import is_of_this_host

ROOTS_VARIABLE: Final = "WEFT_FILE_ROOTS"
SCHEMES_VARIABLE: Final = "WEFT_URL_SCHEMES"

_REMEDY: Final = (
    "Start the server with tf.train.Server(..., file_roots=[DIRECTORY, ...], url_schemes=[SCHEME, ...]), or set "
    f"{ROOTS_VARIABLE}=DIRECTORY{os.pathsep}... and {SCHEMES_VARIABLE}=SCHEME,... for it"
)


def file_access_of(
    task: str,
    host: str,
    roots: Sequence[str | os.PathLike[str]] | None,
    schemes: Sequence[str] | None,
    environ: Mapping[str, str],
) -> FileAccess | None:
    """What graphs on a task's server may touch; None for everything.

    The arguments go before the environment. Without either, a server on loopback, which runs its own user's graphs, opens
    everything; another one its current directory, unless the user's home lies in it, and no URLs.

    Args:
        task: the task's name, for errors.
        host: where the server listens.
        roots: the directories that are open.
        schemes: the URL schemes that are.
        environ: the process's environment.
    """
    if roots is None and environ.get(ROOTS_VARIABLE):
        roots = [root for root in environ[ROOTS_VARIABLE].split(os.pathsep) if root]
    if schemes is None:
        schemes = [scheme.strip() for scheme in environ.get(SCHEMES_VARIABLE, "").split(",") if scheme.strip()]
    if roots is None:
        if is_of_this_host(host):
            return None
        roots = _default_roots()
    return FileAccess(task, [os.fspath(root) for root in roots], schemes, _REMEDY)


def _default_roots() -> list[str]:
    """The current directory; nothing where that would open the user's home, with his keys and start-up files."""
    here, home = os.path.realpath(os.curdir), os.path.realpath(os.path.expanduser("~"))
    return [] if os.path.commonpath([here, home]) == here else [here]
