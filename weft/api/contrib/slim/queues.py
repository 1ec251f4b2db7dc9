"""tf.contrib.slim.queues: queue runners within a `with`. This module only re-exports."""

from __future__ import annotations

from weft.training.input.running_queues import NestedQueueRunnerError as NestedQueueRunnerError
from weft.training.input.running_queues import QueueRunners as QueueRunners
