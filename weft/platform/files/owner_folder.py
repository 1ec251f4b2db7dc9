"""The folder of this user's sockets and secret on this host, which nobody else can enter."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile
from pathlib import Path
from typing import Final

from weft.errors import PermissionDeniedError

_RUNTIME_VARIABLE: Final = "XDG_RUNTIME_DIR"


def owner_folder() -> Path:
    """Return the folder, made when there is none: below XDG_RUNTIME_DIR, or else below the folder of temporary files.

    Raises:
        PermissionDeniedError: there is something of that name that others own or can enter.
    """
    runtime = os.environ.get(_RUNTIME_VARIABLE)
    path = Path(runtime) / "weft" if runtime else Path(tempfile.gettempdir()) / f"weft-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    # Whoever may write to the parent may have made it first, as a link to a folder of his own.
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise PermissionDeniedError.of(
            f"{str(path)!r} must be a folder that user {os.getuid()} owns and nobody else can enter (mode "
            f"700): remove it, or set {_RUNTIME_VARIABLE} to another place"
        )
    return path


def owner_secret() -> bytes:
    """Return a secret that the processes of this user on this host have in common; made by the first that asks.

    Raises:
        PermissionDeniedError: the folder is not this user's alone.
    """
    path = owner_folder() / "secret"
    if not path.exists():
        # Written aside and then linked: nobody reads a part of it, and the first one stays.
        draft = path.with_name(f"secret-{secrets.token_hex(8)}")
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_hex(32).encode())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return path.read_bytes()
