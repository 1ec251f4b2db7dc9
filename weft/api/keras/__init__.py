"""tf.keras for graphs: layers and models that are called on tensors, and their training in sessions."""

from __future__ import annotations

from weft.api.keras import activations as activations
from weft.api.keras import applications as applications
from weft.api.keras import backend as backend
from weft.api.keras import callbacks as callbacks
from weft.api.keras import constraints as constraints
from weft.api.keras import datasets as datasets
from weft.api.keras import estimator as estimator
from weft.api.keras import experimental as experimental
from weft.api.keras import initializers as initializers
from weft.api.keras import layers as layers
from weft.api.keras import losses as losses
from weft.api.keras import metrics as metrics
from weft.api.keras import mixed_precision as mixed_precision
from weft.api.keras import models as models
from weft.api.keras import optimizers as optimizers
from weft.api.keras import preprocessing as preprocessing
from weft.api.keras import regularizers as regularizers
from weft.api.keras import utils as utils
from weft.api.keras import wrappers as wrappers
from weft.networks.engine.input_layer import Input as Input
from weft.networks.models.model import Model as Model
from weft.networks.models.sequential import Sequential as Sequential
