"""tf.keras.experimental: rates of learning, premade models, SavedModels of models, and some layers."""

from __future__ import annotations

from weft.networks.fitting.sequence import terminate_keras_multiprocessing_pools as terminate_keras_multiprocessing_pools
from weft.networks.layers.feature_columns import SequenceFeatures as SequenceFeatures
from weft.networks.layers.recurrent.own_cells import PeepholeLSTMCell as PeepholeLSTMCell
from weft.networks.models.premade import LinearModel as LinearModel
from weft.networks.models.premade import WideDeepModel as WideDeepModel
from weft.networks.models.saved_models import export_saved_model as export_saved_model
from weft.networks.models.saved_models import load_from_saved_model as load_from_saved_model
from weft.networks.optimizers.schedules import CosineDecay as CosineDecay
from weft.networks.optimizers.schedules import CosineDecayRestarts as CosineDecayRestarts
from weft.networks.optimizers.schedules import LinearCosineDecay as LinearCosineDecay
from weft.networks.optimizers.schedules import NoisyLinearCosineDecay as NoisyLinearCosineDecay
