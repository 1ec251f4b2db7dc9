"""tensorflow.python.training.session_manager, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.train.sessions.session_manager import SessionManager as SessionManager
