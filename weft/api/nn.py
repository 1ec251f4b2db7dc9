"""tf.nn: activations, losses, convolutions, pooling, normalization, embeddings."""

from __future__ import annotations

from weft.api import rnn_cell as rnn_cell
from weft.models.rnn.dynamic import bidirectional_dynamic_rnn as bidirectional_dynamic_rnn
from weft.models.rnn.dynamic import dynamic_rnn as dynamic_rnn
from weft.models.rnn.raw import raw_rnn as raw_rnn
from weft.models.rnn.static import static_bidirectional_rnn as static_bidirectional_rnn
from weft.models.rnn.static import static_rnn as static_rnn
from weft.models.rnn.static import static_state_saving_rnn as static_state_saving_rnn
from weft.ops.array.blocks import depth_to_space as depth_to_space
from weft.ops.array.blocks import space_to_batch as space_to_batch
from weft.ops.array.blocks import space_to_depth as space_to_depth
from weft.ops.array.topk import in_top_k as in_top_k
from weft.ops.array.topk import top_k as top_k
from weft.ops.math.norms import l2_loss as l2_loss
from weft.ops.math.unary import sigmoid as sigmoid
from weft.ops.math.unary import tanh as tanh
from weft.ops.nn.activation import crelu as crelu
from weft.ops.nn.activation import elu as elu
from weft.ops.nn.activation import leaky_relu as leaky_relu
from weft.ops.nn.activation import relu as relu
from weft.ops.nn.activation import relu6 as relu6
from weft.ops.nn.activation import selu as selu
from weft.ops.nn.activation import softplus as softplus
from weft.ops.nn.activation import softsign as softsign
from weft.ops.nn.activation import swish as swish
from weft.ops.nn.bias import bias_add as bias_add
from weft.ops.nn.bias import relu_layer as relu_layer
from weft.ops.nn.bias import xw_plus_b as xw_plus_b
from weft.ops.nn.conv import conv1d as conv1d
from weft.ops.nn.conv import conv1d_transpose as conv1d_transpose
from weft.ops.nn.conv import conv2d as conv2d
from weft.ops.nn.conv import conv2d_gradient_of_filter as _conv2d_gradient_of_filter
from weft.ops.nn.conv import conv2d_gradient_of_input as _conv2d_gradient_of_input
from weft.ops.nn.conv import conv2d_transpose as conv2d_transpose
from weft.ops.nn.conv import conv3d as conv3d
from weft.ops.nn.conv import conv3d_transpose as conv3d_transpose
from weft.ops.nn.conv_op import conv3d_backprop_filter as conv3d_backprop_filter
from weft.ops.nn.conv_op import depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter
from weft.ops.nn.conv_op import depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input
from weft.ops.nn.convolution import conv_transpose as conv_transpose
from weft.ops.nn.convolution import convolution as convolution
from weft.ops.nn.ctc import ctc_beam_search_decoder as ctc_beam_search_decoder
from weft.ops.nn.ctc import ctc_beam_search_decoder_v2 as ctc_beam_search_decoder_v2
from weft.ops.nn.ctc import ctc_greedy_decoder as ctc_greedy_decoder
from weft.ops.nn.ctc import ctc_loss as ctc_loss
from weft.ops.nn.dense_ctc import collapse_repeated as collapse_repeated
from weft.ops.nn.dense_ctc import ctc_loss_v2 as ctc_loss_v2
from weft.ops.nn.dense_ctc import ctc_unique_labels as ctc_unique_labels
from weft.ops.nn.dilated_window import with_space_to_batch as with_space_to_batch
from weft.ops.nn.dropout import dropout as dropout
from weft.ops.nn.embedding import embedding_lookup as embedding_lookup
from weft.ops.nn.embedding import embedding_lookup_sparse as embedding_lookup_sparse
from weft.ops.nn.embedding import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse
from weft.ops.nn.fractional_pool import fractional_avg_pool as fractional_avg_pool
from weft.ops.nn.fractional_pool import fractional_max_pool as fractional_max_pool
from weft.ops.nn.fused_norm import fused_batch_norm as fused_batch_norm
from weft.ops.nn.fused_norm import local_response_normalization as local_response_normalization
from weft.ops.nn.learned_sampler import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
from weft.ops.nn.loss import log_poisson_loss as log_poisson_loss
from weft.ops.nn.loss import sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits
from weft.ops.nn.loss import weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits
from weft.ops.nn.morphology import dilation2d as dilation2d
from weft.ops.nn.morphology import erosion2d as erosion2d
from weft.ops.nn.norm import batch_norm_with_global_normalization as batch_norm_with_global_normalization
from weft.ops.nn.norm import batch_normalization as batch_normalization
from weft.ops.nn.norm import l2_normalize as l2_normalize
from weft.ops.nn.norm import moments as moments
from weft.ops.nn.norm import normalize_moments as normalize_moments
from weft.ops.nn.norm import sufficient_statistics as sufficient_statistics
from weft.ops.nn.norm import weighted_moments as weighted_moments
from weft.ops.nn.norm import zero_fraction as zero_fraction
from weft.ops.nn.pool import avg_pool as avg_pool
from weft.ops.nn.pool import avg_pool1d as avg_pool1d
from weft.ops.nn.pool import avg_pool3d as avg_pool3d
from weft.ops.nn.pool import avg_pool_v2 as avg_pool_v2
from weft.ops.nn.pool import max_pool as max_pool
from weft.ops.nn.pool import max_pool1d as max_pool1d
from weft.ops.nn.pool import max_pool2d as max_pool2d
from weft.ops.nn.pool import max_pool3d as max_pool3d
from weft.ops.nn.pool import max_pool_v2 as max_pool_v2
from weft.ops.nn.pool import max_pool_with_argmax as max_pool_with_argmax
from weft.ops.nn.pool import pool as pool
from weft.ops.nn.sampled_loss import nce_loss as nce_loss
from weft.ops.nn.sampled_loss import sampled_softmax_loss as sampled_softmax_loss
from weft.ops.nn.sampler import all_candidate_sampler as all_candidate_sampler
from weft.ops.nn.sampler import compute_accidental_hits as compute_accidental_hits
from weft.ops.nn.sampler import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
from weft.ops.nn.sampler import log_uniform_candidate_sampler as log_uniform_candidate_sampler
from weft.ops.nn.sampler import uniform_candidate_sampler as uniform_candidate_sampler
from weft.ops.nn.separable_conv import atrous_conv2d as atrous_conv2d
from weft.ops.nn.separable_conv import atrous_conv2d_transpose as atrous_conv2d_transpose
from weft.ops.nn.separable_conv import depthwise_conv2d as depthwise_conv2d
from weft.ops.nn.separable_conv import depthwise_conv2d_native as depthwise_conv2d_native
from weft.ops.nn.separable_conv import separable_conv2d as separable_conv2d
from weft.ops.nn.softmax import log_softmax as log_softmax
from weft.ops.nn.softmax import softmax as softmax
from weft.ops.nn.softmax import softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits
from weft.ops.nn.softmax import softmax_cross_entropy_with_logits_v2 as softmax_cross_entropy_with_logits_v2
from weft.ops.nn.softmax import sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits
from weft.strategies.loss_averages import compute_average_loss as compute_average_loss
from weft.strategies.loss_averages import scale_regularization_loss as scale_regularization_loss

# Under a name of its own: type checkers take a renamed import for the module's private business.
conv2d_backprop_filter = _conv2d_gradient_of_filter
conv2d_backprop_input = _conv2d_gradient_of_input
conv3d_backprop_filter_v2 = conv3d_backprop_filter
depthwise_conv2d_native_backprop_filter = depthwise_conv2d_backprop_filter
depthwise_conv2d_native_backprop_input = depthwise_conv2d_backprop_input
lrn = local_response_normalization
avg_pool2d = avg_pool
