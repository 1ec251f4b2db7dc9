"""Which framework a benchmark process measures.

The harness names it in the environment of the processes that it starts, so that a program and every process that the
program starts itself agree, and one source runs on all.

TensorFlow 1.15 needs Python 3.7: what the measures of `catalogue.ORIGINAL_FAMILIES` import runs there too, so it has no aliases
of types and no `zip(..., strict=True)`.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FRAMEWORK_VARIABLE = "BENCHMARK_FRAMEWORK"
DETERMINISM_VARIABLE = "TF_DETERMINISTIC_OPS"
"""By it sessions of weft wait for code."""
WEFT = "weft"
TENSORFLOW = "tensorflow"
ORIGINAL = "tensorflow-1"
MODULES = {WEFT: "weft", TENSORFLOW: "tensorflow.compat.v1", ORIGINAL: "tensorflow.compat.v1"}


def framework_name() -> str:
    """Return `weft`, `tensorflow` or `tensorflow-1`; `weft` when nothing was said."""
    name = os.environ.get(FRAMEWORK_VARIABLE, WEFT)
    if name not in MODULES:
        raise ValueError(f"{FRAMEWORK_VARIABLE} is {name!r}, expected one of {', '.join(MODULES)}")
    return name


def framework() -> Any:
    """Import the framework under test and return the module that carries the TF1 names."""
    name = framework_name()
    module = importlib.import_module(MODULES[name])
    if name != WEFT:
        module.disable_v2_behavior()
    # weft loads most of itself when it is asked for its first name.
    _ = module.Session
    return module


def have_code_made_beside_steps() -> None:
    """Have sessions of weft run as they do where nobody asked for anything else.

    The harness has them wait for code, so that none comes behind the warm-up: not where what a user waits for at first is
    measured, nor where steps are so small that they stay on the host, as they do not in sessions that wait. For this process
    and those that it starts.
    """
    os.environ.pop(DETERMINISM_VARIABLE, None)
