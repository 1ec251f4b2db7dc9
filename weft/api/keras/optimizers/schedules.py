"""tf.keras.optimizers.schedules: learning rates that are functions of the step."""

from __future__ import annotations

from weft.networks.optimizers.schedules import ExponentialDecay as ExponentialDecay
from weft.networks.optimizers.schedules import InverseTimeDecay as InverseTimeDecay
from weft.networks.optimizers.schedules import LearningRateSchedule as LearningRateSchedule
from weft.networks.optimizers.schedules import PiecewiseConstantDecay as PiecewiseConstantDecay
from weft.networks.optimizers.schedules import PolynomialDecay as PolynomialDecay
from weft.networks.optimizers.schedules import deserialize_schedule as _deserialize_schedule
from weft.networks.optimizers.schedules import serialize_schedule as _serialize_schedule

# Under a name of its own: type checkers take a renamed import for the module's private business.
deserialize = _deserialize_schedule
serialize = _serialize_schedule
