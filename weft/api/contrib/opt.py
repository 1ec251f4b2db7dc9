"""tf.contrib.opt: further optimizers. This module only re-exports."""

from __future__ import annotations

from weft.training.contributed.adamax import AdaMaxOptimizer as AdaMaxOptimizer
from weft.training.contributed.adamax import LazyAdamOptimizer as LazyAdamOptimizer
from weft.training.contributed.adamax import NadamOptimizer as NadamOptimizer
from weft.training.contributed.averages import MovingAverageOptimizer as MovingAverageOptimizer
from weft.training.contributed.elastic_average import ElasticAverageCustomGetter as ElasticAverageCustomGetter
from weft.training.contributed.elastic_average import ElasticAverageOptimizer as ElasticAverageOptimizer
from weft.training.contributed.lars import LARSOptimizer as LARSOptimizer
from weft.training.contributed.sign_decay import get_cosine_decay_fn as get_cosine_decay_fn
from weft.training.contributed.sign_decay import get_linear_decay_fn as get_linear_decay_fn
from weft.training.contributed.sign_decay import get_restart_decay_fn as get_restart_decay_fn
from weft.training.contributed.sign_optimizers import AddSignOptimizer as AddSignOptimizer
from weft.training.contributed.sign_optimizers import PowerSignOptimizer as PowerSignOptimizer
from weft.training.contributed.weight_decay import AdamWOptimizer as AdamWOptimizer
from weft.training.contributed.weight_decay import DecoupledWeightDecayExtension as DecoupledWeightDecayExtension
from weft.training.contributed.weight_decay import MomentumWOptimizer as MomentumWOptimizer
from weft.training.contributed.weight_decay import extend_with_decoupled_weight_decay as extend_with_decoupled_weight_decay
from weft.training.contributed.wrappers import DropStaleGradientOptimizer as DropStaleGradientOptimizer
from weft.training.contributed.wrappers import MultitaskOptimizerWrapper as MultitaskOptimizerWrapper
from weft.training.contributed.wrappers import VariableClippingOptimizer as VariableClippingOptimizer
from weft.training.contributed.wrappers import clip_gradients_by_global_norm as clip_gradients_by_global_norm
