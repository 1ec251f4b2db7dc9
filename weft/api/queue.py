"""tf.queue: queues of tensors."""

from __future__ import annotations

from weft.ops.data_flow.queue import FIFOQueue as FIFOQueue
from weft.ops.data_flow.queue import PaddingFIFOQueue as PaddingFIFOQueue
from weft.ops.data_flow.queue import PriorityQueue as PriorityQueue
from weft.ops.data_flow.queue import QueueBase as QueueBase
from weft.ops.data_flow.queue import RandomShuffleQueue as RandomShuffleQueue
