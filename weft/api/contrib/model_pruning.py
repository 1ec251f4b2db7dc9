"""tf.contrib.model_pruning: weights with masks, which training makes sparser and sparser. This module only re-exports."""

from __future__ import annotations

from weft.models.functional.masked_layers import masked_convolution as masked_convolution
from weft.models.functional.masked_layers import masked_fully_connected as masked_fully_connected
from weft.models.layers.masks import apply_mask as apply_mask
from weft.models.layers.masks import get_masked_weights as get_masked_weights
from weft.models.layers.masks import get_masks as get_masks
from weft.models.layers.masks import get_thresholds as get_thresholds
from weft.models.layers.masks import get_weight_sparsity as get_weight_sparsity
from weft.models.layers.masks import get_weights as get_weights
from weft.models.rnn.masked_cells import MaskedBasicLSTMCell as MaskedBasicLSTMCell
from weft.models.rnn.masked_cells import MaskedLSTMCell as MaskedLSTMCell
from weft.training.loops.pruned_training import train as train
from weft.training.pruning.pruning import Pruning as Pruning
from weft.training.pruning.specification import get_pruning_hparams as get_pruning_hparams
from weft.training.pruning.stripping import graph_def_from_checkpoint as graph_def_from_checkpoint
from weft.training.pruning.stripping import strip_pruning_vars_fn as strip_pruning_vars_fn

masked_conv2d = masked_convolution
