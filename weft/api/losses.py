"""tf.losses: losses of a batch, and the collections that they are added to."""

from __future__ import annotations

from weft.models.logit_losses import sigmoid_cross_entropy as sigmoid_cross_entropy
from weft.models.logit_losses import softmax_cross_entropy as softmax_cross_entropy
from weft.models.logit_losses import sparse_softmax_cross_entropy as sparse_softmax_cross_entropy
from weft.models.losses import Reduction as Reduction
from weft.models.losses import add_loss as add_loss
from weft.models.losses import compute_weighted_loss as compute_weighted_loss
from weft.models.losses import get_losses as get_losses
from weft.models.losses import get_regularization_loss as get_regularization_loss
from weft.models.losses import get_regularization_losses as get_regularization_losses
from weft.models.losses import get_total_loss as get_total_loss
from weft.models.prediction_losses import absolute_difference as absolute_difference
from weft.models.prediction_losses import cosine_distance as cosine_distance
from weft.models.prediction_losses import hinge_loss as hinge_loss
from weft.models.prediction_losses import huber_loss as huber_loss
from weft.models.prediction_losses import log_loss as log_loss
from weft.models.prediction_losses import mean_pairwise_squared_error as mean_pairwise_squared_error
from weft.models.prediction_losses import mean_squared_error as mean_squared_error
