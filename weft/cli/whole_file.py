"""Writes a file as a whole or not at all: what stood there before stays until then."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

from weft.cli import os_trouble


def write_whole(path: str, write: Callable[[str], None]) -> None:
    """Have a draft beside the file written, and put it in its place.

    Args:
        path: the file.
        write: writes the draft, whose path it gets.

    Raises:
        OSError: it cannot be written; names the file, and no part of it is left.
    """
    draft = f"{path}.part"
    try:
        write(draft)
        os.replace(draft, path)
    except OSError as error:
        raise os_trouble.naming(error, path) from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(draft)
