"""tf.contrib.slim: the layers, variables and argument scopes of tf.contrib. This module only re-exports."""

from __future__ import annotations

from weft.contrib import layers as layers
from weft.contrib.layers import avg_pool2d as avg_pool2d
from weft.contrib.layers import batch_norm as batch_norm
from weft.contrib.layers import conv2d as conv2d
from weft.contrib.layers import dropout as dropout
from weft.contrib.layers import flatten as flatten
from weft.contrib.layers import fully_connected as fully_connected
from weft.contrib.layers import l1_regularizer as l1_regularizer
from weft.contrib.layers import l2_regularizer as l2_regularizer
from weft.contrib.layers import max_pool2d as max_pool2d
from weft.contrib.layers import variance_scaling_initializer as variance_scaling_initializer
from weft.contrib.layers import xavier_initializer as xavier_initializer
from weft.ops.arg_scope import add_arg_scope as add_arg_scope
from weft.ops.arg_scope import arg_scope as arg_scope
from weft.ops.model_variables import get_local_variables as get_local_variables
from weft.ops.model_variables import get_model_variables as get_model_variables
from weft.ops.model_variables import get_trainable_variables as get_trainable_variables
from weft.ops.model_variables import get_unique_variable as get_unique_variable
from weft.ops.model_variables import get_variables as get_variables
from weft.ops.model_variables import get_variables_by_name as get_variables_by_name
from weft.ops.model_variables import get_variables_by_suffix as get_variables_by_suffix
from weft.ops.model_variables import get_variables_to_restore as get_variables_to_restore
from weft.ops.model_variables import local_variable as local_variable
from weft.ops.model_variables import model_variable as model_variable
from weft.ops.model_variables import variable as variable
from weft.train.training_util import create_global_step as create_global_step
from weft.train.training_util import get_global_step as get_global_step
from weft.train.training_util import get_or_create_global_step as get_or_create_global_step
