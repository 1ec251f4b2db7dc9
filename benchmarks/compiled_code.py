"""What the code that XLA made for a step computes with: whose convolutions and products, which loops.

JAX's own profiler times each operation of compiled code, on whichever thread it runs, by the name that XLA gives it.
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

CALLS = 20
# What begins so holds others, or is none.
_NO_OPERATION = ("Thunk", "Threadpool", "end: ", "while", "call", "conditional")
# First match wins.
_KINDS = (
    ("convolutions by oneDNN", ("__onednn$convolution",)),
    ("convolutions by Eigen", ("conv_general_dilated", "convolution")),
    ("products and sums", ("dot", "ynn_fusion")),
    ("copies", ("copy.", "copy_bitcast", "transpose_copy", "wrapped_slice", "dynamic-slice", "bitcast_slice")),
)


def kind_of(name: str) -> str:
    """Return the kind of an operation of this name; empty for what is none."""
    if name.startswith(_NO_OPERATION):
        return ""
    return next((kind for kind, marks in _KINDS if any(mark in name for mark in marks)), "loops")


def seconds(call: Callable[[], object], count: int = CALLS) -> dict[str, float]:
    """Return the seconds that a call spends in operations of each kind, on all threads; none where JAX is not loaded."""
    if "jax" not in sys.modules:
        return {}
    jax: Any = sys.modules["jax"]
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    with tempfile.TemporaryDirectory() as directory:
        with jax.profiler.trace(directory, profiler_options=options):
            for _ in range(count):
                call()
        (path,) = Path(directory).rglob("*.xplane.pb")
        data = jax.profiler.ProfileData.from_file(str(path))
    found: dict[str, float] = defaultdict(float)
    for plane in data.planes:
        for line in plane.lines:
            if line.name.startswith("tf_XLA"):
                for event in line.events:
                    found[kind_of(event.name)] += event.duration_ns / 1e9 / count
    found.pop("", None)
    return dict(found)
