"""tf.keras.optimizers: what changes weights so that a loss becomes smaller."""

from __future__ import annotations

from weft.api.keras.optimizers import schedules as schedules
from weft.networks.optimizers.adaptive import Adadelta as Adadelta
from weft.networks.optimizers.adaptive import Adagrad as Adagrad
from weft.networks.optimizers.adaptive import RMSprop as RMSprop
from weft.networks.optimizers.catalog import deserialize as deserialize
from weft.networks.optimizers.catalog import get as get
from weft.networks.optimizers.catalog import serialize as serialize
from weft.networks.optimizers.descent import SGD as SGD
from weft.networks.optimizers.descent import Ftrl as Ftrl
from weft.networks.optimizers.moments import Adam as Adam
from weft.networks.optimizers.moments import Adamax as Adamax
from weft.networks.optimizers.moments import Nadam as Nadam
from weft.networks.optimizers.optimizer import Optimizer as Optimizer
