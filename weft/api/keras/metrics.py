"""tf.keras.metrics: values that gather over batches."""

from __future__ import annotations

from weft.networks.loss_functions import binary_crossentropy as binary_crossentropy
from weft.networks.loss_functions import categorical_crossentropy as categorical_crossentropy
from weft.networks.loss_functions import cosine_proximity as cosine_proximity
from weft.networks.loss_functions import hinge as hinge
from weft.networks.loss_functions import kullback_leibler_divergence as kullback_leibler_divergence
from weft.networks.loss_functions import mean_absolute_error as mean_absolute_error
from weft.networks.loss_functions import mean_absolute_percentage_error as mean_absolute_percentage_error
from weft.networks.loss_functions import mean_squared_error as mean_squared_error
from weft.networks.loss_functions import mean_squared_logarithmic_error as mean_squared_logarithmic_error
from weft.networks.loss_functions import poisson as poisson
from weft.networks.loss_functions import sparse_categorical_crossentropy as sparse_categorical_crossentropy
from weft.networks.loss_functions import squared_hinge as squared_hinge
from weft.networks.metrics.catalog import Accuracy as Accuracy
from weft.networks.metrics.catalog import BinaryAccuracy as BinaryAccuracy
from weft.networks.metrics.catalog import BinaryCrossentropy as BinaryCrossentropy
from weft.networks.metrics.catalog import CategoricalAccuracy as CategoricalAccuracy
from weft.networks.metrics.catalog import CategoricalCrossentropy as CategoricalCrossentropy
from weft.networks.metrics.catalog import CategoricalHinge as CategoricalHinge
from weft.networks.metrics.catalog import CosineSimilarity as CosineSimilarity
from weft.networks.metrics.catalog import Hinge as Hinge
from weft.networks.metrics.catalog import KLDivergence as KLDivergence
from weft.networks.metrics.catalog import LogCoshError as LogCoshError
from weft.networks.metrics.catalog import MeanAbsoluteError as MeanAbsoluteError
from weft.networks.metrics.catalog import MeanAbsolutePercentageError as MeanAbsolutePercentageError
from weft.networks.metrics.catalog import MeanSquaredError as MeanSquaredError
from weft.networks.metrics.catalog import MeanSquaredLogarithmicError as MeanSquaredLogarithmicError
from weft.networks.metrics.catalog import Poisson as Poisson
from weft.networks.metrics.catalog import SparseCategoricalAccuracy as SparseCategoricalAccuracy
from weft.networks.metrics.catalog import SparseCategoricalCrossentropy as SparseCategoricalCrossentropy
from weft.networks.metrics.catalog import SparseTopKCategoricalAccuracy as SparseTopKCategoricalAccuracy
from weft.networks.metrics.catalog import SquaredHinge as SquaredHinge
from weft.networks.metrics.catalog import TopKCategoricalAccuracy as TopKCategoricalAccuracy
from weft.networks.metrics.catalog import deserialize as deserialize
from weft.networks.metrics.catalog import get as get
from weft.networks.metrics.catalog import serialize as serialize
from weft.networks.metrics.confusion import AUC as AUC
from weft.networks.metrics.confusion import FalseNegatives as FalseNegatives
from weft.networks.metrics.confusion import FalsePositives as FalsePositives
from weft.networks.metrics.confusion import MeanIoU as MeanIoU
from weft.networks.metrics.confusion import Precision as Precision
from weft.networks.metrics.confusion import Recall as Recall
from weft.networks.metrics.confusion import SensitivityAtSpecificity as SensitivityAtSpecificity
from weft.networks.metrics.confusion import SpecificityAtSensitivity as SpecificityAtSensitivity
from weft.networks.metrics.confusion import TrueNegatives as TrueNegatives
from weft.networks.metrics.confusion import TruePositives as TruePositives
from weft.networks.metrics.functions import binary_accuracy as binary_accuracy
from weft.networks.metrics.functions import categorical_accuracy as categorical_accuracy
from weft.networks.metrics.functions import sparse_categorical_accuracy as sparse_categorical_accuracy
from weft.networks.metrics.functions import sparse_top_k_categorical_accuracy as sparse_top_k_categorical_accuracy
from weft.networks.metrics.functions import top_k_categorical_accuracy as top_k_categorical_accuracy
from weft.networks.metrics.metric import Mean as Mean
from weft.networks.metrics.metric import MeanRelativeError as MeanRelativeError
from weft.networks.metrics.metric import MeanTensor as MeanTensor
from weft.networks.metrics.metric import Metric as Metric
from weft.networks.metrics.metric import RootMeanSquaredError as RootMeanSquaredError
from weft.networks.metrics.metric import Sum as Sum

# Under a name of its own: type checkers take a renamed import for the module's private business.
cosine = cosine_proximity
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
