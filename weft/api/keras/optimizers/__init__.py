"""tf.keras.optimizers: what changes weights so that a loss becomes smaller."""

from __future__ import annotations

from weft.api.keras.optimizers import schedules as schedules
from weft.networks.optimizers.catalog import deserialize as deserialize
from weft.networks.optimizers.catalog import get as get
from weft.networks.optimizers.catalog import serialize as serialize
from weft.networks.optimizers.optimizer import Optimizer as Optimizer
from weft.networks.optimizers.rules import SGD as SGD
from weft.networks.optimizers.rules import Adadelta as Adadelta
from weft.networks.optimizers.rules import Adagrad as Adagrad
from weft.networks.optimizers.rules import Adam as Adam
from weft.networks.optimizers.rules import Adamax as Adamax
from weft.networks.optimizers.rules import Ftrl as Ftrl
from weft.networks.optimizers.rules import Nadam as Nadam
from weft.networks.optimizers.rules import RMSprop as RMSprop
