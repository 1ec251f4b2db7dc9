"""tensorflow.python.training.queue_runner, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.train.queue_runner import QueueRunner as QueueRunner
from weft.train.queue_runner import add_queue_runner as add_queue_runner
from weft.train.queue_runner import start_queue_runners as start_queue_runners
