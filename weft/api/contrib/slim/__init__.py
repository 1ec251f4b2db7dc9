"""tf.contrib.slim: the names under which programs use contrib's layers, losses and loops. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib import layers as layers
from weft.api.contrib import losses as losses
from weft.api.contrib import metrics as metrics
from weft.api.contrib.slim import evaluation as evaluation
from weft.api.contrib.slim import learning as learning
from weft.api.contrib.slim import utils as utils
from weft.models.functional.batch_norm import batch_norm as batch_norm
from weft.models.functional.batch_norm import layer_norm as layer_norm
from weft.models.functional.feature_functions import dense_to_sparse as dense_to_sparse
from weft.models.functional.feature_functions import maxout as maxout
from weft.models.functional.feature_functions import spatial_softmax as spatial_softmax
from weft.models.functional.feature_functions import unit_norm as unit_norm
from weft.models.functional.group_norm import group_norm as group_norm
from weft.models.functional.group_norm import instance_norm as instance_norm
from weft.models.functional.layer_functions import avg_pool2d as avg_pool2d
from weft.models.functional.layer_functions import bias_add as bias_add
from weft.models.functional.layer_functions import conv1d as conv1d
from weft.models.functional.layer_functions import conv2d as conv2d
from weft.models.functional.layer_functions import conv2d_transpose as conv2d_transpose
from weft.models.functional.layer_functions import conv3d as conv3d
from weft.models.functional.layer_functions import convolution as convolution
from weft.models.functional.layer_functions import convolution2d as convolution2d
from weft.models.functional.layer_functions import dropout as dropout
from weft.models.functional.layer_functions import elu as elu
from weft.models.functional.layer_functions import flatten as flatten
from weft.models.functional.layer_functions import fully_connected as fully_connected
from weft.models.functional.layer_functions import linear as linear
from weft.models.functional.layer_functions import max_pool2d as max_pool2d
from weft.models.functional.layer_functions import one_hot_encoding as one_hot_encoding
from weft.models.functional.layer_functions import relu as relu
from weft.models.functional.layer_functions import relu6 as relu6
from weft.models.functional.layer_functions import repeat as repeat
from weft.models.functional.layer_functions import softmax as softmax
from weft.models.functional.layer_functions import stack as stack
from weft.models.functional.separable import separable_convolution2d as separable_convolution2d
from weft.ops.arg_scope import add_arg_scope as add_arg_scope
from weft.ops.arg_scope import arg_scope as arg_scope
from weft.ops.arg_scope import arg_scoped_arguments as arg_scoped_arguments
from weft.ops.arg_scope import has_arg_scope as has_arg_scope
from weft.ops.variables.fan_initializers import variance_scaling_initializer as variance_scaling_initializer
from weft.ops.variables.fan_initializers import xavier_initializer as xavier_initializer
from weft.ops.variables.model_variables import add_model_variable as add_model_variable
from weft.ops.variables.model_variables import filter_variables as filter_variables
from weft.ops.variables.model_variables import get_local_variables as get_local_variables
from weft.ops.variables.model_variables import get_model_variables as get_model_variables
from weft.ops.variables.model_variables import get_trainable_variables as get_trainable_variables
from weft.ops.variables.model_variables import get_unique_variable as get_unique_variable
from weft.ops.variables.model_variables import get_variables as get_variables
from weft.ops.variables.model_variables import get_variables_by_name as get_variables_by_name
from weft.ops.variables.model_variables import get_variables_by_suffix as get_variables_by_suffix
from weft.ops.variables.model_variables import get_variables_to_restore as get_variables_to_restore
from weft.ops.variables.model_variables import local_variable as local_variable
from weft.ops.variables.model_variables import model_variable as model_variable
from weft.ops.variables.model_variables import variable as variable
from weft.ops.variables.regularizers import apply_regularization as apply_regularization
from weft.ops.variables.regularizers import l1_l2_regularizer as l1_l2_regularizer
from weft.ops.variables.regularizers import l1_regularizer as l1_regularizer
from weft.ops.variables.regularizers import l2_regularizer as l2_regularizer
from weft.ops.variables.regularizers import sum_regularizer as sum_regularizer
from weft.training.input import prefetch_queue as prefetch_queue
from weft.training.saving.model_assignments import assign_from_checkpoint as assign_from_checkpoint
from weft.training.saving.model_assignments import assign_from_checkpoint_fn as assign_from_checkpoint_fn
from weft.training.saving.model_assignments import assign_from_values as assign_from_values
from weft.training.saving.model_assignments import assign_from_values_fn as assign_from_values_fn
from weft.training.training_util import create_global_step as create_global_step
from weft.training.training_util import get_global_step as get_global_step
from weft.training.training_util import get_or_create_global_step as get_or_create_global_step

# Under a name of its own: type checkers take a renamed import for the module's private business.
separable_conv2d = separable_convolution2d
