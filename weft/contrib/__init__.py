"""tf.contrib: the parts of it that programs use. This module only re-exports."""

from __future__ import annotations

from weft.contrib import framework as framework
from weft.contrib import layers as layers
from weft.contrib import lookup as lookup
from weft.contrib import losses as losses
from weft.contrib import metrics as metrics
from weft.contrib import rnn as rnn
from weft.contrib import seq2seq as seq2seq
from weft.contrib import slim as slim
from weft.contrib import staging as staging
from weft.contrib import training as training
from weft.contrib import util as util
