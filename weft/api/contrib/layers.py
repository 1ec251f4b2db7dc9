"""tf.contrib.layers: layers as functions, initializers, regularizers, and training in one call. This module only re-exports."""

from __future__ import annotations

from weft.models.functional.activation_summaries import summarize_activation as summarize_activation
from weft.models.functional.activation_summaries import summarize_activations as summarize_activations
from weft.models.functional.activation_summaries import summarize_collection as summarize_collection
from weft.models.functional.activation_summaries import summarize_tensor as summarize_tensor
from weft.models.functional.activation_summaries import summarize_tensors as summarize_tensors
from weft.models.functional.batch_norm import batch_norm as batch_norm
from weft.models.functional.batch_norm import layer_norm as layer_norm
from weft.models.functional.layer_functions import avg_pool2d as avg_pool2d
from weft.models.functional.layer_functions import bias_add as bias_add
from weft.models.functional.layer_functions import conv1d as conv1d
from weft.models.functional.layer_functions import conv2d as conv2d
from weft.models.functional.layer_functions import conv2d_transpose as conv2d_transpose
from weft.models.functional.layer_functions import conv3d as conv3d
from weft.models.functional.layer_functions import convolution as convolution
from weft.models.functional.layer_functions import convolution1d as convolution1d
from weft.models.functional.layer_functions import convolution2d as convolution2d
from weft.models.functional.layer_functions import convolution2d_transpose as convolution2d_transpose
from weft.models.functional.layer_functions import convolution3d as convolution3d
from weft.models.functional.layer_functions import dropout as dropout
from weft.models.functional.layer_functions import embed_sequence as embed_sequence
from weft.models.functional.layer_functions import flatten as flatten
from weft.models.functional.layer_functions import fully_connected as fully_connected
from weft.models.functional.layer_functions import linear as linear
from weft.models.functional.layer_functions import max_pool2d as max_pool2d
from weft.models.functional.layer_functions import one_hot_encoding as one_hot_encoding
from weft.models.functional.layer_functions import relu as relu
from weft.models.functional.layer_functions import repeat as repeat
from weft.models.functional.layer_functions import softmax as softmax
from weft.models.functional.layer_functions import stack as stack
from weft.ops.variables.fan_initializers import variance_scaling_initializer as variance_scaling_initializer
from weft.ops.variables.fan_initializers import xavier_initializer as xavier_initializer
from weft.ops.variables.fan_initializers import xavier_initializer_conv2d as xavier_initializer_conv2d
from weft.ops.variables.regularizers import apply_regularization as apply_regularization
from weft.ops.variables.regularizers import l1_l2_regularizer as l1_l2_regularizer
from weft.ops.variables.regularizers import l1_regularizer as l1_regularizer
from weft.ops.variables.regularizers import l2_regularizer as l2_regularizer
from weft.ops.variables.regularizers import sum_regularizer as sum_regularizer
from weft.training.optimizers.optimize_loss import OPTIMIZER_CLS_NAMES as OPTIMIZER_CLS_NAMES
from weft.training.optimizers.optimize_loss import OPTIMIZER_SUMMARIES as OPTIMIZER_SUMMARIES
from weft.training.optimizers.optimize_loss import optimize_loss as optimize_loss
