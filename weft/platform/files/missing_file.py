"""What to look at where a file is not there: what its folder has instead, or that there is no such folder."""

from __future__ import annotations

import os
from typing import Final

from weft import errors
from weft.platform.files import gfile
from weft.platform.hints.spelling import did_you_mean

_SHOWN: Final = 5


def what_is_there(path: str | os.PathLike[str]) -> str:
    """A sentence, with a blank before it, on the folder of a path where nothing is; empty where the folder cannot be read."""
    name = os.fsdecode(path)
    folder = os.path.dirname(name)
    where = folder or os.getcwd()
    try:
        if not gfile.IsDirectory(where):
            return f" There is no folder {where}{'' if os.path.isabs(where) else f' in {os.getcwd()}'}."
        found = sorted(each.rstrip("/") for each in gfile.ListDirectory(where))
    except (errors.OpError, OSError):
        return ""
    if not found:
        return f" The folder {where} is empty."
    meant = did_you_mean(os.path.basename(name), found)
    shown = ", ".join(found[:_SHOWN])
    return meant or f" The folder {where} has {shown}{f' and {len(found) - _SHOWN} more' if len(found) > _SHOWN else ''}."
