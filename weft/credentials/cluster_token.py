"""The token of a cluster: a secret that each of its tasks and clients holds, in a variable or in a file of its owner's."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from weft.errors import InvalidArgumentError, NotFoundError, PermissionDeniedError

VARIABLE: Final = "WEFT_CLUSTER_TOKEN"
FILE_VARIABLE: Final = "WEFT_CLUSTER_TOKEN_FILE"
_BYTES: Final = 32
# Fewer characters than this can be guessed; `weft credentials token` makes 64.
_LEAST: Final = 32


def new_token() -> str:
    """A fresh token: 256 random bits in hexadecimal digits."""
    return secrets.token_hex(_BYTES)


def write_token(path: Path) -> None:
    """Write a fresh token to a new file that only its owner can read.

    Raises:
        FileExistsError: there is such a file; it may be in use.
    """
    write_secret(path, f"{new_token()}\n".encode())


def write_secret(path: Path, content: bytes) -> None:
    """Write a secret to a new file that only its owner can read.

    Raises:
        FileExistsError: there is such a file.
        OSError: it cannot be written; no part of it is left.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None


def read_secret(path: Path, purpose: str) -> bytes:
    """Read a file that only its owner may read.

    Raises:
        NotFoundError: there is no such file.
        PermissionDeniedError: it cannot be read, or others can read it too.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            content = file.read()
    except FileNotFoundError:
        raise NotFoundError.of(f"The {purpose} should be in {str(path)!r}, and there is no such file") from None
    except OSError as error:
        raise PermissionDeniedError.of(f"The {purpose} in {str(path)!r} cannot be read: {error.strerror}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise PermissionDeniedError.of(
            f"The {purpose} in {str(path)!r} can be read by others (mode {stat.S_IMODE(mode):o}): chmod 600 it"
        )
    return content


def find_token(environment: Mapping[str, str]) -> bytes | None:
    """The token that the environment gives, as a value or by the name of a file; None without one.

    Raises:
        OpError: the file cannot be used, or the token is too short to be a secret.
    """
    text = environment.get(VARIABLE)
    origin = f"The variable {VARIABLE}"
    if text is None and (name := environment.get(FILE_VARIABLE)):
        text = read_secret(Path(name), "cluster token").decode("ascii", "replace")
        origin = f"The file {name!r} ({FILE_VARIABLE})"
    if text is None:
        return None
    token = text.strip()
    if not (token.isascii() and token.isprintable()):
        # Another byte has no character of its own here: tokens that differ would become the same one.
        raise InvalidArgumentError.of(
            f"{origin} has bytes that are no printable ASCII characters; a cluster token is text. "
            "Make one with: weft credentials token -o FILE"
        )
    if len(token) < _LEAST:
        raise InvalidArgumentError.of(
            f"{origin} has a cluster token of {len(token)} characters; at least {_LEAST} are needed. "
            "Make one with: weft credentials token -o FILE"
        )
    return token.encode()
