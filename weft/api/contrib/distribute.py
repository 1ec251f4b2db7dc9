"""tf.contrib.distribute: strategies under the names and arguments that they had first. This module only re-exports."""

from __future__ import annotations

from weft.strategies.access import get_cross_replica_context as get_cross_replica_context
from weft.strategies.access import get_replica_context as get_replica_context
from weft.strategies.access import get_strategy as get_strategy
from weft.strategies.access import has_strategy as has_strategy
from weft.strategies.access import in_cross_replica_context as in_cross_replica_context
from weft.strategies.collective import ContribCollectiveAllReduceStrategy as _ContribCollectiveAllReduceStrategy
from weft.strategies.context import ReplicaContext as ReplicaContext
from weft.strategies.context import UpdateContext as UpdateContext
from weft.strategies.context import require_replica_context as require_replica_context
from weft.strategies.distribute_config import DistributeConfig as DistributeConfig
from weft.strategies.distribute_config import run_standard_tensorflow_server as run_standard_tensorflow_server
from weft.strategies.extended import StrategyExtended as _StrategyExtended
from weft.strategies.loss_reduction import get_loss_reduction as get_loss_reduction
from weft.strategies.mirrored import ContribMirroredStrategy as _ContribMirroredStrategy
from weft.strategies.one_device import OneDeviceStrategy as OneDeviceStrategy
from weft.strategies.parameter_server import ContribParameterServerStrategy as _ContribParameterServerStrategy
from weft.strategies.reduction.cross_device_ops import AllReduceCrossDeviceOps as AllReduceCrossDeviceOps
from weft.strategies.reduction.cross_device_ops import CrossDeviceOps as CrossDeviceOps
from weft.strategies.reduction.cross_device_ops import MultiWorkerAllReduce as MultiWorkerAllReduce
from weft.strategies.reduction.cross_device_ops import ReductionToOneDevice as _ReductionToOneDevice
from weft.strategies.refused import TPUStrategy as TPUStrategy
from weft.strategies.refused import initialize_tpu_system as initialize_tpu_system
from weft.strategies.strategy import Strategy as _Strategy

# Under a name of its own: type checkers take a renamed import for the module's private business.
get_distribution_strategy = get_strategy
has_distribution_strategy = has_strategy
CollectiveAllReduceStrategy = _ContribCollectiveAllReduceStrategy
DistributionStrategyExtended = _StrategyExtended
MirroredStrategy = _ContribMirroredStrategy
ParameterServerStrategy = _ContribParameterServerStrategy
ReductionToOneDeviceCrossDeviceOps = _ReductionToOneDevice
DistributionStrategy = _Strategy
