"""tensorflow.python.training, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.python.training import basic_session_run_hooks as basic_session_run_hooks
from weft.python.training import coordinator as coordinator
from weft.python.training import device_setter as device_setter
from weft.python.training import monitored_session as monitored_session
from weft.python.training import moving_averages as moving_averages
from weft.python.training import optimizer as optimizer
from weft.python.training import queue_runner as queue_runner
from weft.python.training import saver as saver
from weft.python.training import server_lib as server_lib
from weft.python.training import session_manager as session_manager
from weft.python.training import session_run_hook as session_run_hook
from weft.python.training import slot_creator as slot_creator
from weft.python.training import supervisor as supervisor
from weft.python.training import training as training
from weft.python.training import training_ops as training_ops
from weft.python.training import training_util as training_util
