"""tf.distribute.experimental: strategies of several workers. This module only re-exports."""

from __future__ import annotations

from weft.strategies.collective import CollectiveCommunication as CollectiveCommunication
from weft.strategies.collective import MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
from weft.strategies.collective_optimizer import CollectiveAllReduceOptimizer as CollectiveAllReduceOptimizer
from weft.strategies.parameter_server import CentralStorageStrategy as CentralStorageStrategy
from weft.strategies.parameter_server import ParameterServerStrategy as ParameterServerStrategy
from weft.strategies.refused import TPUStrategy as TPUStrategy
