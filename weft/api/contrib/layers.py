"""tf.contrib.layers: layers as functions, initializers, regularizers, and training in one call. This module only re-exports."""

from __future__ import annotations

from weft.models.functional.activation_summaries import summarize_activation as summarize_activation
from weft.models.functional.activation_summaries import summarize_activations as summarize_activations
from weft.models.functional.activation_summaries import summarize_collection as summarize_collection
from weft.models.functional.activation_summaries import summarize_tensor as summarize_tensor
from weft.models.functional.activation_summaries import summarize_tensors as summarize_tensors
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
from weft.models.functional.layer_functions import convolution1d as convolution1d
from weft.models.functional.layer_functions import convolution2d as convolution2d
from weft.models.functional.layer_functions import convolution2d_transpose as convolution2d_transpose
from weft.models.functional.layer_functions import convolution3d as convolution3d
from weft.models.functional.layer_functions import dropout as dropout
from weft.models.functional.layer_functions import elu as elu
from weft.models.functional.layer_functions import embed_sequence as embed_sequence
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
from weft.models.layer_columns.crossed import crossed_column as crossed_column
from weft.models.layer_columns.dense_ids import embedding_column as embedding_column
from weft.models.layer_columns.dense_ids import one_hot_column as one_hot_column
from weft.models.layer_columns.dense_ids import scattered_embedding_column as scattered_embedding_column
from weft.models.layer_columns.dense_ids import shared_embedding_columns as shared_embedding_columns
from weft.models.layer_columns.layers import check_feature_columns as check_feature_columns
from weft.models.layer_columns.layers import create_feature_spec_for_parsing as create_feature_spec_for_parsing
from weft.models.layer_columns.layers import infer_real_valued_columns as infer_real_valued_columns
from weft.models.layer_columns.layers import input_from_feature_columns as input_from_feature_columns
from weft.models.layer_columns.layers import joint_weighted_sum_from_feature_columns as joint_weighted_sum_from_feature_columns
from weft.models.layer_columns.layers import parse_feature_columns_from_examples as parse_feature_columns_from_examples
from weft.models.layer_columns.layers import transform_features as transform_features
from weft.models.layer_columns.layers import weighted_sum_from_feature_columns as weighted_sum_from_feature_columns
from weft.models.layer_columns.real_valued import bucketized_column as bucketized_column
from weft.models.layer_columns.real_valued import real_valued_column as real_valued_column
from weft.models.layer_columns.sparse import sparse_column_with_hash_bucket as sparse_column_with_hash_bucket
from weft.models.layer_columns.sparse import sparse_column_with_integerized_feature as sparse_column_with_integerized_feature
from weft.models.layer_columns.sparse import sparse_column_with_keys as sparse_column_with_keys
from weft.models.layer_columns.sparse import sparse_column_with_vocabulary_file as sparse_column_with_vocabulary_file
from weft.models.layer_columns.sparse import weighted_sparse_column as weighted_sparse_column
from weft.ops.nn.embedding import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse
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

# Under a name of its own: type checkers take a renamed import for the module's private business.
separable_conv2d = separable_convolution2d
