"""tf.distribute: strategies that build a model for several devices or workers. This module only re-exports."""

from __future__ import annotations

from weft.api.distribute import cluster_resolver as cluster_resolver
from weft.api.distribute import experimental as experimental
from weft.distributed.server.server import Server as Server
from weft.strategies.access import experimental_set_strategy as experimental_set_strategy
from weft.strategies.access import get_replica_context as get_replica_context
from weft.strategies.access import get_strategy as get_strategy
from weft.strategies.access import has_strategy as has_strategy
from weft.strategies.access import in_cross_replica_context as in_cross_replica_context
from weft.strategies.context import ReplicaContext as ReplicaContext
from weft.strategies.extended import StrategyExtended as StrategyExtended
from weft.strategies.input.iterators import InputContext as InputContext
from weft.strategies.loss_reduction import get_loss_reduction as get_loss_reduction
from weft.strategies.mirrored import MirroredStrategy as MirroredStrategy
from weft.strategies.one_device import OneDeviceStrategy as OneDeviceStrategy
from weft.strategies.reduction.cross_device_ops import CrossDeviceOps as CrossDeviceOps
from weft.strategies.reduction.cross_device_ops import HierarchicalCopyAllReduce as HierarchicalCopyAllReduce
from weft.strategies.reduction.cross_device_ops import NcclAllReduce as NcclAllReduce
from weft.strategies.reduction.cross_device_ops import ReductionToOneDevice as ReductionToOneDevice
from weft.strategies.reduction.reduce_op import ReduceOp as ReduceOp
from weft.strategies.strategy import InputReplicationMode as InputReplicationMode
from weft.strategies.strategy import Strategy as Strategy
