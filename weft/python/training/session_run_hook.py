"""tensorflow.python.training.session_run_hook, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.train.hooks.session_run_hook import SessionRunArgs as SessionRunArgs
from weft.train.hooks.session_run_hook import SessionRunContext as SessionRunContext
from weft.train.hooks.session_run_hook import SessionRunHook as SessionRunHook
from weft.train.hooks.session_run_hook import SessionRunValues as SessionRunValues
