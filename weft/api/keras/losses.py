"""tf.keras.losses: what training makes small."""

from __future__ import annotations

from weft.networks.loss_functions import binary_crossentropy as binary_crossentropy
from weft.networks.loss_functions import categorical_crossentropy as categorical_crossentropy
from weft.networks.loss_functions import categorical_hinge as categorical_hinge
from weft.networks.loss_functions import cosine_proximity as cosine_proximity
from weft.networks.loss_functions import hinge as hinge
from weft.networks.loss_functions import kullback_leibler_divergence as kullback_leibler_divergence
from weft.networks.loss_functions import logcosh as logcosh
from weft.networks.loss_functions import mean_absolute_error as mean_absolute_error
from weft.networks.loss_functions import mean_absolute_percentage_error as mean_absolute_percentage_error
from weft.networks.loss_functions import mean_squared_error as mean_squared_error
from weft.networks.loss_functions import mean_squared_logarithmic_error as mean_squared_logarithmic_error
from weft.networks.loss_functions import poisson as poisson
from weft.networks.loss_functions import sparse_categorical_crossentropy as sparse_categorical_crossentropy
from weft.networks.loss_functions import squared_hinge as squared_hinge
from weft.networks.losses import BinaryCrossentropy as BinaryCrossentropy
from weft.networks.losses import CategoricalCrossentropy as CategoricalCrossentropy
from weft.networks.losses import CategoricalHinge as CategoricalHinge
from weft.networks.losses import CosineSimilarity as CosineSimilarity
from weft.networks.losses import Hinge as Hinge
from weft.networks.losses import Huber as Huber
from weft.networks.losses import KLDivergence as KLDivergence
from weft.networks.losses import LogCosh as LogCosh
from weft.networks.losses import Loss as Loss
from weft.networks.losses import MeanAbsoluteError as MeanAbsoluteError
from weft.networks.losses import MeanAbsolutePercentageError as MeanAbsolutePercentageError
from weft.networks.losses import MeanSquaredError as MeanSquaredError
from weft.networks.losses import MeanSquaredLogarithmicError as MeanSquaredLogarithmicError
from weft.networks.losses import Poisson as Poisson
from weft.networks.losses import Reduction as Reduction
from weft.networks.losses import SparseCategoricalCrossentropy as SparseCategoricalCrossentropy
from weft.networks.losses import SquaredHinge as SquaredHinge
from weft.networks.losses import deserialize as deserialize
from weft.networks.losses import get as get
from weft.networks.losses import serialize as serialize

# Under a name of its own: type checkers take a renamed import for the module's private business.
cosine = cosine_proximity
cosine_similarity = cosine_proximity
KLD = kullback_leibler_divergence
kld = kullback_leibler_divergence
MAE = mean_absolute_error
mae = mean_absolute_error
MAPE = mean_absolute_percentage_error
mape = mean_absolute_percentage_error
MSE = mean_squared_error
mse = mean_squared_error
MSLE = mean_squared_logarithmic_error
msle = mean_squared_logarithmic_error
