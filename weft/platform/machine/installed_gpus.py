"""The GPUs of this machine, without a library that would take them."""

from __future__ import annotations

import re
from pathlib import Path


def installed_gpus() -> list[str]:
    """The numbers of NVIDIA's GPUs that this machine has devices for, as CUDA_VISIBLE_DEVICES takes them."""
    names = (each.name for each in Path("/dev").glob("nvidia[0-9]*"))
    return sorted((name.removeprefix("nvidia") for name in names if re.fullmatch(r"nvidia\d+", name)), key=int)
