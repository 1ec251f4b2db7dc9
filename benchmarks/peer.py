"""The environment of the framework that weft is measured against, made on first use and kept.

It is separate from weft's own: neither framework's requirements may bend the other's.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.framework import ROOT

PYTHON_VARIABLE = "BENCHMARK_PEER_PYTHON"
ORIGINAL_VARIABLE = "BENCHMARK_ORIGINAL_PYTHON"
ENVIRONMENT = ROOT / ".bench-env"
_QUICK_TYPES = "ml_dtypes<0.7"
"""0.7.0 takes a second of CPU to import. weft's requirements leave it out, so TensorFlow is measured without it, too."""


def peer_python(given: str | None) -> str:
    """Return the interpreter that has TensorFlow: the one given, the environment's, or a new one (a minute, 1.6 GB)."""
    chosen = given or os.environ.get(PYTHON_VARIABLE)
    return chosen or str(_installed())


def original_python(given: str | None) -> str | None:
    """Return the interpreter that has TensorFlow 1.15, if one was given; none is made, since that needs Python 3.7."""
    return given or os.environ.get(ORIGINAL_VARIABLE)


def _installed() -> Path:
    python = ENVIRONMENT / "bin" / "python"
    finished = ENVIRONMENT / "installed"
    if finished.exists():
        return python
    print(f"installing TensorFlow into {ENVIRONMENT}/ ...", file=sys.stderr)
    venv.create(ENVIRONMENT, with_pip=True, clear=True)
    # The folder keeps itself out of version control.
    (ENVIRONMENT / ".gitignore").write_text("*\n")
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--upgrade", _requirement(), _QUICK_TYPES], check=True)
    finished.touch()
    return python


def _requirement() -> str:
    """Return the CPU build's name; it is a package of its own only where the main one carries GPU code."""
    on_linux_x86 = sys.platform == "linux" and platform.machine() == "x86_64"
    return "tensorflow-cpu" if on_linux_x86 else "tensorflow"
