"""tensorflow.python.training.supervisor, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.train.sessions.supervisor import Supervisor as Supervisor
