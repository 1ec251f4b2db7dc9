"""tensorflow.python.platform.app, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.platform.app import flags as flags
from weft.platform.app import run as run
