"""tf.contrib: the parts of it that programs use. This module re-exports; Keras, which is large, when a program asks for it."""

from __future__ import annotations

import importlib as _importlib
import sys as _sys

from weft.api import missing_names as _missing_names
from weft.api.contrib import autograph as autograph
from weft.api.contrib import bayesflow as bayesflow
from weft.api.contrib import checkpoint as checkpoint
from weft.api.contrib import cluster_resolver as cluster_resolver
from weft.api.contrib import compiler as compiler
from weft.api.contrib import constrained_optimization as constrained_optimization
from weft.api.contrib import crf as crf
from weft.api.contrib import cudnn_rnn as cudnn_rnn
from weft.api.contrib import data as data
from weft.api.contrib import deprecated as deprecated
from weft.api.contrib import distribute as distribute
from weft.api.contrib import distributions as distributions
from weft.api.contrib import eager as eager
from weft.api.contrib import estimator as estimator
from weft.api.contrib import factorization as factorization
from weft.api.contrib import feature_column as feature_column
from weft.api.contrib import framework as framework
from weft.api.contrib import graph_editor as graph_editor
from weft.api.contrib import grid_rnn as grid_rnn
from weft.api.contrib import image as image
from weft.api.contrib import integrate as integrate
from weft.api.contrib import kernel_methods as kernel_methods
from weft.api.contrib import layers as layers
from weft.api.contrib import learn as learn
from weft.api.contrib import legacy_seq2seq as legacy_seq2seq
from weft.api.contrib import linear_optimizer as linear_optimizer
from weft.api.contrib import lookup as lookup
from weft.api.contrib import losses as losses
from weft.api.contrib import memory_stats as memory_stats
from weft.api.contrib import metrics as metrics
from weft.api.contrib import mixed_precision as mixed_precision
from weft.api.contrib import model_pruning as model_pruning
from weft.api.contrib import nn as nn
from weft.api.contrib import opt as opt
from weft.api.contrib import predictor as predictor
from weft.api.contrib import quantize as quantize
from weft.api.contrib import resampler as resampler
from weft.api.contrib import rnn as rnn
from weft.api.contrib import seq2seq as seq2seq
from weft.api.contrib import signal as signal
from weft.api.contrib import slim as slim
from weft.api.contrib import solvers as solvers
from weft.api.contrib import sparsemax as sparsemax
from weft.api.contrib import staging as staging
from weft.api.contrib import stateless as stateless
from weft.api.contrib import summary as summary
from weft.api.contrib import tensor_forest as tensor_forest
from weft.api.contrib import tensorboard as tensorboard
from weft.api.contrib import testing as testing
from weft.api.contrib import tfprof as tfprof
from weft.api.contrib import timeseries as timeseries
from weft.api.contrib import tpu as tpu
from weft.api.contrib import training as training
from weft.api.contrib import util as util


def __getattr__(name: str) -> object:
    if name == "keras":
        is_first = "weft.contrib.keras" not in _sys.modules
        module = _importlib.import_module("weft.contrib.keras")
        if is_first:
            # The doors of Keras are loaded now, and are to answer misspelt names as those do that were there from the start.
            _missing_names.watch_loaded()
        return module
    _missing_names.refuse(_sys.modules[__name__], "contrib", name)
