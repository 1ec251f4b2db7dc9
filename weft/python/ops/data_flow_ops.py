"""tensorflow.python.ops.data_flow_ops, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.ops.array.partitioning import dynamic_partition as dynamic_partition
from weft.ops.array.partitioning import dynamic_stitch as dynamic_stitch
from weft.ops.data_flow.conditional_accumulator import ConditionalAccumulator as ConditionalAccumulator
from weft.ops.data_flow.conditional_accumulator import ConditionalAccumulatorBase as ConditionalAccumulatorBase
from weft.ops.data_flow.conditional_accumulator import SparseConditionalAccumulator as SparseConditionalAccumulator
from weft.ops.data_flow.queue import FIFOQueue as FIFOQueue
from weft.ops.data_flow.queue import PaddingFIFOQueue as PaddingFIFOQueue
from weft.ops.data_flow.queue import PriorityQueue as PriorityQueue
from weft.ops.data_flow.queue import QueueBase as QueueBase
from weft.ops.data_flow.queue import RandomShuffleQueue as RandomShuffleQueue
from weft.ops.data_flow.staging import StagingArea as StagingArea
