"""tensorflow.python.ops.data_flow_ops, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.ops.conditional_accumulator import ConditionalAccumulator as ConditionalAccumulator
from weft.ops.conditional_accumulator import ConditionalAccumulatorBase as ConditionalAccumulatorBase
from weft.ops.conditional_accumulator import SparseConditionalAccumulator as SparseConditionalAccumulator
from weft.ops.data_flow import FIFOQueue as FIFOQueue
from weft.ops.data_flow import PaddingFIFOQueue as PaddingFIFOQueue
from weft.ops.data_flow import PriorityQueue as PriorityQueue
from weft.ops.data_flow import QueueBase as QueueBase
from weft.ops.data_flow import RandomShuffleQueue as RandomShuffleQueue
from weft.ops.partitioning import dynamic_partition as dynamic_partition
from weft.ops.partitioning import dynamic_stitch as dynamic_stitch
from weft.ops.staging import StagingArea as StagingArea
