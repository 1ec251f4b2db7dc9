"""tf.keras.experimental: rates of learning, and a cell."""

from __future__ import annotations

from weft.networks.layers.recurrent.own_cells import PeepholeLSTMCell as PeepholeLSTMCell
from weft.networks.optimizers.schedules import CosineDecay as CosineDecay
from weft.networks.optimizers.schedules import CosineDecayRestarts as CosineDecayRestarts
from weft.networks.optimizers.schedules import LinearCosineDecay as LinearCosineDecay
from weft.networks.optimizers.schedules import NoisyLinearCosineDecay as NoisyLinearCosineDecay
