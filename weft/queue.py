"""tf.queue: queues of tensors."""

from __future__ import annotations

from weft.ops.data_flow import FIFOQueue as FIFOQueue
from weft.ops.data_flow import PaddingFIFOQueue as PaddingFIFOQueue
from weft.ops.data_flow import PriorityQueue as PriorityQueue
from weft.ops.data_flow import QueueBase as QueueBase
from weft.ops.data_flow import RandomShuffleQueue as RandomShuffleQueue
