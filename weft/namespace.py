"""The names of `weft` itself, but for the modules of `weft.api.on_demand`: this module only re-exports; the list is the public
API, and a test pins it.

Importing it loads the engine, and registers every op and gradient. `weft` does so when a program asks for one of its names.
"""

from __future__ import annotations

from weft import errors as errors
from weft.api import audio as audio
from weft.api import autograph as autograph
from weft.api import bitwise as bitwise
from weft.api import compat as compat
from weft.api import config as config
from weft.api import data as data
from weft.api import debugging as debugging
from weft.api import dtypes as dtypes
from weft.api import graph_util as graph_util
from weft.api import image as image
from weft.api import initializers as initializers
from weft.api import io as io
from weft.api import layers as layers
from weft.api import linalg as linalg
from weft.api import lookup as lookup
from weft.api import losses as losses
from weft.api import manip as manip
from weft.api import math as math
from weft.api import metrics as metrics
from weft.api import missing_names as _missing_names
from weft.api import nest as nest
from weft.api import nn as nn
from weft.api import python_io as python_io
from weft.api import quantization as quantization
from weft.api import queue as queue
from weft.api import ragged as ragged
from weft.api import random as random
from weft.api import raw_ops as raw_ops
from weft.api import saved_model as saved_model
from weft.api import sets as sets
from weft.api import signal as signal
from weft.api import sparse as sparse
from weft.api import strings as strings
from weft.api import summary as summary
from weft.api import train as train
from weft.api import typing as typing
from weft.api import version as version
from weft.api import xla as xla
from weft.autodiff import control_flow_gradients as _control_flow_gradients  # registers the gradients of If and While
from weft.autodiff import symbolic_calls as _symbolic_calls  # registers the gradients of functions
from weft.autodiff.aggregation import AggregationMethod as AggregationMethod
from weft.autodiff.custom_gradient import custom_gradient as custom_gradient
from weft.autodiff.gradient_tape import GradientTape as GradientTape
from weft.autodiff.gradients import UnconnectedGradients as UnconnectedGradients
from weft.autodiff.gradients import gradients as gradients
from weft.autodiff.hessians import hessians as hessians
from weft.autodiff.jax_function import jax_function as jax_function
from weft.autodiff.py_function import py_function as py_function
from weft.autodiff.registration import NotDifferentiable as NotDifferentiable
from weft.autodiff.registration import RegisterGradient as RegisterGradient
from weft.client.explain import explain as explain
from weft.client.session import InteractiveSession as InteractiveSession
from weft.client.session import Session as Session
from weft.client.session import get_default_session as get_default_session
from weft.client.step_picture import draw_placement as draw_placement
from weft.client.step_picture import draw_timeline as draw_timeline
from weft.datasets.optional import OptionalSpec as OptionalSpec
from weft.distributed.server.local_cluster import LocalCluster as LocalCluster
from weft.errors import OpError as OpError
from weft.framework.building.graph_functions import add_to_collection as add_to_collection
from weft.framework.building.graph_functions import add_to_collections as add_to_collections
from weft.framework.building.graph_functions import colocate_with as colocate_with
from weft.framework.building.graph_functions import container as container
from weft.framework.building.graph_functions import control_dependencies as control_dependencies
from weft.framework.building.graph_functions import device as device
from weft.framework.building.graph_functions import get_all_collection_keys as get_all_collection_keys
from weft.framework.building.graph_functions import get_collection as get_collection
from weft.framework.building.graph_functions import get_collection_ref as get_collection_ref
from weft.framework.building.graph_functions import name_scope as name_scope
from weft.framework.building.graph_functions import op_scope as op_scope
from weft.framework.building.tensor_conversion import convert_to_tensor as convert_to_tensor
from weft.framework.building.tensor_conversion import is_tensor as is_tensor
from weft.framework.building.tensor_conversion import (
    register_tensor_conversion_function as register_tensor_conversion_function,
)
from weft.framework.compat.behavior import control_flow_v2_enabled as control_flow_v2_enabled
from weft.framework.compat.behavior import dimension_at_index as dimension_at_index
from weft.framework.compat.behavior import disable_control_flow_v2 as disable_control_flow_v2
from weft.framework.compat.behavior import disable_eager_execution as disable_eager_execution
from weft.framework.compat.behavior import disable_tensor_equality as disable_tensor_equality
from weft.framework.compat.behavior import disable_v2_behavior as disable_v2_behavior
from weft.framework.compat.behavior import disable_v2_tensorshape as disable_v2_tensorshape
from weft.framework.compat.behavior import enable_control_flow_v2 as enable_control_flow_v2
from weft.framework.compat.behavior import enable_eager_execution as enable_eager_execution
from weft.framework.compat.behavior import enable_tensor_equality as enable_tensor_equality
from weft.framework.compat.behavior import enable_v2_behavior as enable_v2_behavior
from weft.framework.compat.behavior import enable_v2_tensorshape as enable_v2_tensorshape
from weft.framework.compat.behavior import executing_eagerly as executing_eagerly
from weft.framework.compat.behavior import executing_eagerly_outside_functions as executing_eagerly_outside_functions
from weft.framework.composites.indexed_slices_spec import IndexedSlicesSpec as IndexedSlicesSpec
from weft.framework.composites.sparse_tensor import SparseTensor as SparseTensor
from weft.framework.composites.sparse_tensor import SparseTensorValue as SparseTensorValue
from weft.framework.composites.sparse_tensor import convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor
from weft.framework.composites.sparse_tensor_spec import SparseTensorSpec as SparseTensorSpec
from weft.framework.composites.tensor_spec import TensorSpec as TensorSpec
from weft.framework.devices.device_spec import DeviceSpec as DeviceSpec
from weft.framework.graphs.collections import GraphKeys as GraphKeys
from weft.framework.graphs.graph import GRAPH_DEF_VERSION as GRAPH_DEF_VERSION
from weft.framework.graphs.graph import Graph as Graph
from weft.framework.graphs.graph import get_default_graph as get_default_graph
from weft.framework.graphs.graph import reset_default_graph as reset_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices as IndexedSlices
from weft.framework.graphs.indexed_slices import IndexedSlicesValue as IndexedSlicesValue
from weft.framework.importing.importer import import_graph_def as import_graph_def
from weft.framework.nodes.constant_value import constant_value as _constant_value
from weft.framework.nodes.operation import Operation as Operation
from weft.framework.nodes.operation import Tensor as Tensor
from weft.framework.types.dimension import Dimension as Dimension
from weft.framework.types.dimension import dimension_value as dimension_value
from weft.framework.types.dtypes import QUANTIZED_DTYPES as QUANTIZED_DTYPES
from weft.framework.types.dtypes import DType as DType
from weft.framework.types.dtypes import as_dtype as as_dtype
from weft.framework.types.dtypes import bfloat16 as bfloat16
from weft.framework.types.dtypes import bool as bool
from weft.framework.types.dtypes import complex64 as complex64
from weft.framework.types.dtypes import complex128 as complex128
from weft.framework.types.dtypes import double as double
from weft.framework.types.dtypes import float16 as float16
from weft.framework.types.dtypes import float32 as float32
from weft.framework.types.dtypes import float64 as float64
from weft.framework.types.dtypes import half as half
from weft.framework.types.dtypes import int8 as int8
from weft.framework.types.dtypes import int16 as int16
from weft.framework.types.dtypes import int32 as int32
from weft.framework.types.dtypes import int64 as int64
from weft.framework.types.dtypes import qint8 as qint8
from weft.framework.types.dtypes import qint16 as qint16
from weft.framework.types.dtypes import qint32 as qint32
from weft.framework.types.dtypes import quint8 as quint8
from weft.framework.types.dtypes import quint16 as quint16
from weft.framework.types.dtypes import resource as resource
from weft.framework.types.dtypes import string as string
from weft.framework.types.dtypes import uint8 as uint8
from weft.framework.types.dtypes import uint16 as uint16
from weft.framework.types.dtypes import uint32 as uint32
from weft.framework.types.dtypes import uint64 as uint64
from weft.framework.types.dtypes import variant as variant
from weft.framework.types.tensor_shape import TensorShape as TensorShape
from weft.framework.types.tensor_util import make_ndarray as make_ndarray
from weft.framework.types.tensor_util import make_tensor_proto as make_tensor_proto
from weft.framework.types.type_spec import TypeSpec as TypeSpec
from weft.framework.version import COMPILER_VERSION as COMPILER_VERSION
from weft.framework.version import COMPILER_VERSION as __compiler_version__
from weft.framework.version import CXX11_ABI_FLAG as CXX11_ABI_FLAG
from weft.framework.version import GIT_VERSION as GIT_VERSION
from weft.framework.version import GIT_VERSION as __git_version__
from weft.framework.version import GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER
from weft.framework.version import GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER
from weft.framework.version import MONOLITHIC_BUILD as MONOLITHIC_BUILD
from weft.framework.version import VERSION as VERSION
from weft.framework.version import VERSION as __version__
from weft.framework.version import WEFT_VERSION as WEFT_VERSION
from weft.models.functional.reversible import grad_pass_through as grad_pass_through
from weft.models.functional.reversible import recompute_grad as recompute_grad
from weft.models.metrics.confusion_matrix import confusion_matrix as confusion_matrix
from weft.models.module import Module as Module
from weft.ops import tensorflow_forms as _tensorflow_forms  # registers how weft's own ops are written
from weft.ops.array.batch_gather import batch_gather as batch_gather
from weft.ops.array.batch_gather import gather_nd as gather_nd
from weft.ops.array.blocks import batch_to_space as batch_to_space
from weft.ops.array.blocks import batch_to_space_nd as batch_to_space_nd
from weft.ops.array.blocks import depth_to_space as depth_to_space
from weft.ops.array.blocks import space_to_batch as space_to_batch
from weft.ops.array.blocks import space_to_batch_nd as space_to_batch_nd
from weft.ops.array.blocks import space_to_depth as space_to_depth
from weft.ops.array.constant import constant as constant
from weft.ops.array.edit_distance import edit_distance as edit_distance
from weft.ops.array.filling import fill as fill
from weft.ops.array.filling import one_hot as one_hot
from weft.ops.array.filling import ones as ones
from weft.ops.array.filling import ones_like as ones_like
from weft.ops.array.filling import zeros as zeros
from weft.ops.array.filling import zeros_like as zeros_like
from weft.ops.array.gather_scatter import gather as gather
from weft.ops.array.gather_scatter import scatter_nd as scatter_nd
from weft.ops.array.identity import guarantee_const as guarantee_const
from weft.ops.array.identity import identity as identity
from weft.ops.array.identity import identity_n as identity_n
from weft.ops.array.identity import stop_gradient as stop_gradient
from weft.ops.array.joining import concat as concat
from weft.ops.array.joining import split as split
from weft.ops.array.padding import pad as pad
from weft.ops.array.padding import slice_of as _slice_of
from weft.ops.array.partitioning import dynamic_partition as dynamic_partition
from weft.ops.array.partitioning import dynamic_stitch as dynamic_stitch
from weft.ops.array.patches import extract_image_patches as extract_image_patches
from weft.ops.array.placeholder import placeholder as placeholder
from weft.ops.array.placeholder import placeholder_with_default as placeholder_with_default
from weft.ops.array.ranges import linspace as linspace
from weft.ops.array.ranges import range_of as _range_of
from weft.ops.array.selection import boolean_mask as boolean_mask
from weft.ops.array.selection import where as where
from weft.ops.array.selection import where_v2 as where_v2
from weft.ops.array.sequences import argsort as argsort
from weft.ops.array.sequences import meshgrid as meshgrid
from weft.ops.array.sequences import repeat as repeat
from weft.ops.array.sequences import reverse_sequence as reverse_sequence
from weft.ops.array.sequences import searchsorted as searchsorted
from weft.ops.array.sequences import sequence_mask as sequence_mask
from weft.ops.array.sequences import sort as sort
from weft.ops.array.sequences import unravel_index as unravel_index
from weft.ops.array.sets import setdiff1d as setdiff1d
from weft.ops.array.sets import unique as unique
from weft.ops.array.sets import unique_with_counts as unique_with_counts
from weft.ops.array.shape_ops import ensure_shape as ensure_shape
from weft.ops.array.shape_ops import expand_dims as expand_dims
from weft.ops.array.shape_ops import rank as rank
from weft.ops.array.shape_ops import reshape as reshape
from weft.ops.array.shape_ops import shape as shape
from weft.ops.array.shape_ops import shape_n as shape_n
from weft.ops.array.shape_ops import size as size
from weft.ops.array.shape_ops import squeeze as squeeze
from weft.ops.array.slices_conversion import convert_to_tensor_or_indexed_slices as convert_to_tensor_or_indexed_slices
from weft.ops.array.slicing import newaxis as newaxis
from weft.ops.array.slicing import strided_slice as strided_slice
from weft.ops.array.stacking import parallel_stack as parallel_stack
from weft.ops.array.stacking import stack as stack
from weft.ops.array.stacking import unstack as unstack
from weft.ops.array.tensor_scatter import tensor_scatter_add as tensor_scatter_add
from weft.ops.array.tensor_scatter import tensor_scatter_sub as tensor_scatter_sub
from weft.ops.array.tensor_scatter import tensor_scatter_update as tensor_scatter_update
from weft.ops.array.tiling import broadcast_dynamic_shape as broadcast_dynamic_shape
from weft.ops.array.tiling import broadcast_static_shape as broadcast_static_shape
from weft.ops.array.tiling import broadcast_to as broadcast_to
from weft.ops.array.tiling import required_space_to_batch_paddings as required_space_to_batch_paddings
from weft.ops.array.tiling import reverse as reverse
from weft.ops.array.tiling import roll as roll
from weft.ops.array.tiling import tile as tile
from weft.ops.array.transposing import invert_permutation as invert_permutation
from weft.ops.array.transposing import matrix_transpose as matrix_transpose
from weft.ops.array.transposing import transpose as transpose
from weft.ops.control_flow import optionals as _optionals  # registers what gradients of TensorFlow's branches have
from weft.ops.control_flow import stacks as _stacks  # registers what gradient graphs made by TensorFlow have
from weft.ops.control_flow import tensor_array_nodes as _tensor_array_nodes  # registers TensorArrayV3 and its family
from weft.ops.control_flow import tensor_lists as _tensor_lists  # registers what loops of TensorFlow 2 have
from weft.ops.control_flow.assertion import assert_that as _assert_that
from weft.ops.control_flow.assertion import check_numerics as check_numerics
from weft.ops.control_flow.assertion import print_v2 as _print_v2
from weft.ops.control_flow.assertion import print_values as _print_values
from weft.ops.control_flow.assertion import verify_tensor_all_finite as verify_tensor_all_finite
from weft.ops.control_flow.case import case as case
from weft.ops.control_flow.case import switch_case as switch_case
from weft.ops.control_flow.cond import cond as cond
from weft.ops.control_flow.functional import foldl as foldl
from weft.ops.control_flow.functional import foldr as foldr
from weft.ops.control_flow.functional import map_fn as map_fn
from weft.ops.control_flow.functional import scan as scan
from weft.ops.control_flow.init_scope import init_scope as init_scope
from weft.ops.control_flow.ordering import group as group
from weft.ops.control_flow.ordering import no_op as no_op
from weft.ops.control_flow.ordering import tuple_of as _tuple_of
from weft.ops.control_flow.tensor_array import TensorArray as TensorArray
from weft.ops.control_flow.tensor_array_spec import TensorArraySpec as TensorArraySpec
from weft.ops.control_flow.vectorized_map import vectorized_map as vectorized_map
from weft.ops.control_flow.while_loop import while_loop as while_loop
from weft.ops.data import later_versions as _later_datasets  # registers what tf.data of TensorFlow 2 has
from weft.ops.data_flow import resource_accumulators as _resource_accumulators  # registers accumulators of TensorFlow 2
from weft.ops.data_flow.conditional_accumulator import ConditionalAccumulator as ConditionalAccumulator
from weft.ops.data_flow.conditional_accumulator import ConditionalAccumulatorBase as ConditionalAccumulatorBase
from weft.ops.data_flow.conditional_accumulator import SparseConditionalAccumulator as SparseConditionalAccumulator
from weft.ops.data_flow.critical_section import CriticalSection as CriticalSection
from weft.ops.data_flow.queue import FIFOQueue as FIFOQueue
from weft.ops.data_flow.queue import PaddingFIFOQueue as PaddingFIFOQueue
from weft.ops.data_flow.queue import PriorityQueue as PriorityQueue
from weft.ops.data_flow.queue import QueueBase as QueueBase
from weft.ops.data_flow.queue import RandomShuffleQueue as RandomShuffleQueue
from weft.ops.debugging.checks import assert_equal as assert_equal
from weft.ops.debugging.checks import assert_greater as assert_greater
from weft.ops.debugging.checks import assert_greater_equal as assert_greater_equal
from weft.ops.debugging.checks import assert_integer as assert_integer
from weft.ops.debugging.checks import assert_less as assert_less
from weft.ops.debugging.checks import assert_less_equal as assert_less_equal
from weft.ops.debugging.checks import assert_near as assert_near
from weft.ops.debugging.checks import assert_negative as assert_negative
from weft.ops.debugging.checks import assert_non_negative as assert_non_negative
from weft.ops.debugging.checks import assert_non_positive as assert_non_positive
from weft.ops.debugging.checks import assert_none_equal as assert_none_equal
from weft.ops.debugging.checks import assert_positive as assert_positive
from weft.ops.debugging.checks import assert_proper_iterable as assert_proper_iterable
from weft.ops.debugging.checks import assert_same_float_dtype as assert_same_float_dtype
from weft.ops.debugging.checks import assert_type as assert_type
from weft.ops.debugging.checks import is_non_decreasing as is_non_decreasing
from weft.ops.debugging.checks import is_numeric_tensor as is_numeric_tensor
from weft.ops.debugging.checks import is_strictly_increasing as is_strictly_increasing
from weft.ops.debugging.numerics_check import add_check_numerics_ops as add_check_numerics_ops
from weft.ops.debugging.rank_checks import assert_rank as assert_rank
from weft.ops.debugging.rank_checks import assert_rank_at_least as assert_rank_at_least
from weft.ops.debugging.rank_checks import assert_rank_in as assert_rank_in
from weft.ops.debugging.rank_checks import assert_scalar as assert_scalar
from weft.ops.foreign.images import extract_volume_patches as extract_volume_patches
from weft.ops.image import backward as _image_gradients  # registers gradients of images in graphs made by TensorFlow
from weft.ops.io import parse_example_v2 as _parse_example_v2  # registers what parse_example of TensorFlow 2 has
from weft.ops.io.csv_records import decode_csv as decode_csv
from weft.ops.io.example_features import FixedLenFeature as FixedLenFeature
from weft.ops.io.example_features import FixedLenSequenceFeature as FixedLenSequenceFeature
from weft.ops.io.example_features import SparseFeature as SparseFeature
from weft.ops.io.example_features import VarLenFeature as VarLenFeature
from weft.ops.io.file_io import matching_files as matching_files
from weft.ops.io.file_io import read_file as read_file
from weft.ops.io.file_io import write_file as write_file
from weft.ops.io.parse_example import parse_example as parse_example
from weft.ops.io.parse_example import parse_single_example as parse_single_example
from weft.ops.io.parse_sequence import parse_single_sequence_example as parse_single_sequence_example
from weft.ops.io.readers import FixedLengthRecordReader as FixedLengthRecordReader
from weft.ops.io.readers import IdentityReader as IdentityReader
from weft.ops.io.readers import ReaderBase as ReaderBase
from weft.ops.io.readers import TextLineReader as TextLineReader
from weft.ops.io.readers import TFRecordReader as TFRecordReader
from weft.ops.io.readers import WholeFileReader as WholeFileReader
from weft.ops.linalg.decompositions import cholesky as cholesky
from weft.ops.linalg.decompositions import cholesky_solve as cholesky_solve
from weft.ops.linalg.decompositions import matrix_determinant as matrix_determinant
from weft.ops.linalg.decompositions import matrix_inverse as matrix_inverse
from weft.ops.linalg.decompositions import matrix_solve as matrix_solve
from weft.ops.linalg.decompositions import matrix_triangular_solve as matrix_triangular_solve
from weft.ops.linalg.decompositions import qr as qr
from weft.ops.linalg.decompositions import self_adjoint_eig as self_adjoint_eig
from weft.ops.linalg.decompositions import self_adjoint_eigvals as self_adjoint_eigvals
from weft.ops.linalg.decompositions import svd as svd
from weft.ops.linalg.matrix_bands import matrix_diag as matrix_diag
from weft.ops.linalg.matrix_bands import matrix_diag_part as matrix_diag_part
from weft.ops.linalg.matrix_bands import matrix_set_diag as matrix_set_diag
from weft.ops.linalg.matrix_functions import matrix_solve_ls as matrix_solve_ls
from weft.ops.linalg.matrix_functions import matrix_square_root as matrix_square_root
from weft.ops.linalg.matrix_parts import eye as eye
from weft.ops.linalg.matrix_parts import matrix_band_part as matrix_band_part
from weft.ops.linalg.matrix_parts import tensor_diag as _tensor_diag
from weft.ops.linalg.matrix_parts import tensor_diag_part as _tensor_diag_part
from weft.ops.linalg.matrix_parts import trace as trace
from weft.ops.linalg.norms import norm as norm
from weft.ops.lookup.tables import initialize_all_tables as initialize_all_tables
from weft.ops.lookup.tables import tables_initializer as tables_initializer
from weft.ops.math import bessel as _bessel  # registers what TensorFlow 2 has in math.special
from weft.ops.math import operators as _operators
from weft.ops.math.casting import bitcast as bitcast
from weft.ops.math.casting import cast as cast
from weft.ops.math.casting import saturate_cast as saturate_cast
from weft.ops.math.casting import to_bfloat16 as to_bfloat16
from weft.ops.math.casting import to_complex64 as to_complex64
from weft.ops.math.casting import to_complex128 as to_complex128
from weft.ops.math.casting import to_double as to_double
from weft.ops.math.casting import to_float as to_float
from weft.ops.math.casting import to_int32 as to_int32
from weft.ops.math.casting import to_int64 as to_int64
from weft.ops.math.clip import clip_by_average_norm as clip_by_average_norm
from weft.ops.math.clip import clip_by_global_norm as clip_by_global_norm
from weft.ops.math.clip import clip_by_norm as clip_by_norm
from weft.ops.math.clip import clip_by_value as clip_by_value
from weft.ops.math.comparison import equal as equal
from weft.ops.math.comparison import greater as greater
from weft.ops.math.comparison import greater_equal as greater_equal
from weft.ops.math.comparison import less as less
from weft.ops.math.comparison import less_equal as less_equal
from weft.ops.math.comparison import logical_and as logical_and
from weft.ops.math.comparison import logical_not as logical_not
from weft.ops.math.comparison import logical_or as logical_or
from weft.ops.math.comparison import logical_xor as logical_xor
from weft.ops.math.comparison import maximum as maximum
from weft.ops.math.comparison import minimum as minimum
from weft.ops.math.comparison import not_equal as not_equal
from weft.ops.math.complex_numbers import absolute as _absolute
from weft.ops.math.complex_numbers import angle as angle
from weft.ops.math.complex_numbers import complex_of as _complex_of
from weft.ops.math.complex_numbers import conj as conj
from weft.ops.math.complex_numbers import imag as imag
from weft.ops.math.complex_numbers import real as real
from weft.ops.math.complex_numbers import sign as sign
from weft.ops.math.contraction import einsum as einsum
from weft.ops.math.contraction import tensordot as tensordot
from weft.ops.math.counting import bincount as bincount
from weft.ops.math.counting import histogram_fixed_width as histogram_fixed_width
from weft.ops.math.counting import histogram_fixed_width_bins as histogram_fixed_width_bins
from weft.ops.math.division import div as div
from weft.ops.math.division import div_no_nan as div_no_nan
from weft.ops.math.division import divide as divide
from weft.ops.math.division import floor_div as floor_div
from weft.ops.math.division import floor_mod as _floor_mod
from weft.ops.math.division import floordiv as floordiv
from weft.ops.math.division import power as _power
from weft.ops.math.division import truediv as truediv
from weft.ops.math.division import truncate_div as _truncate_div
from weft.ops.math.division import truncate_mod as _truncate_mod
from weft.ops.math.elementwise import accumulate_n as accumulate_n
from weft.ops.math.elementwise import add as add
from weft.ops.math.elementwise import add_n as add_n
from weft.ops.math.elementwise import mul as _mul
from weft.ops.math.elementwise import neg as _neg
from weft.ops.math.elementwise import real_div as _real_div
from weft.ops.math.elementwise import reciprocal as reciprocal
from weft.ops.math.elementwise import square as square
from weft.ops.math.elementwise import squared_difference as squared_difference
from weft.ops.math.elementwise import sub as _sub
from weft.ops.math.fake_quantization import fake_quant_with_min_max_args as fake_quant_with_min_max_args
from weft.ops.math.fake_quantization import fake_quant_with_min_max_args_gradient as fake_quant_with_min_max_args_gradient
from weft.ops.math.fake_quantization import fake_quant_with_min_max_vars as fake_quant_with_min_max_vars
from weft.ops.math.fake_quantization import fake_quant_with_min_max_vars_gradient as fake_quant_with_min_max_vars_gradient
from weft.ops.math.fake_quantization import (
    fake_quant_with_min_max_vars_per_channel as fake_quant_with_min_max_vars_per_channel,
)
from weft.ops.math.fake_quantization import (
    fake_quant_with_min_max_vars_per_channel_gradient as fake_quant_with_min_max_vars_per_channel_gradient,
)
from weft.ops.math.norms import cross as cross
from weft.ops.math.norms import global_norm as global_norm
from weft.ops.math.norms import scalar_mul as scalar_mul
from weft.ops.math.products import matmul as matmul
from weft.ops.math.products import sparse_matmul as sparse_matmul
from weft.ops.math.quantization import dequantize as dequantize
from weft.ops.math.quantization import quantize as quantize
from weft.ops.math.quantization import quantize_v2 as quantize_v2
from weft.ops.math.reduce_functions import arg_max as arg_max
from weft.ops.math.reduce_functions import arg_min as arg_min
from weft.ops.math.reduce_functions import argmax as argmax
from weft.ops.math.reduce_functions import argmin as argmin
from weft.ops.math.reduce_functions import count_nonzero as count_nonzero
from weft.ops.math.reduce_functions import reduce_all as reduce_all
from weft.ops.math.reduce_functions import reduce_any as reduce_any
from weft.ops.math.reduce_functions import reduce_logsumexp as reduce_logsumexp
from weft.ops.math.reduce_functions import reduce_max as reduce_max
from weft.ops.math.reduce_functions import reduce_mean as reduce_mean
from weft.ops.math.reduce_functions import reduce_min as reduce_min
from weft.ops.math.reduce_functions import reduce_prod as reduce_prod
from weft.ops.math.reduce_functions import reduce_sum as reduce_sum
from weft.ops.math.scans import cumprod as cumprod
from weft.ops.math.scans import cumsum as cumsum
from weft.ops.math.segment import segment_max as segment_max
from weft.ops.math.segment import segment_mean as segment_mean
from weft.ops.math.segment import segment_min as segment_min
from weft.ops.math.segment import segment_prod as segment_prod
from weft.ops.math.segment import segment_sum as segment_sum
from weft.ops.math.segment import unsorted_segment_max as unsorted_segment_max
from weft.ops.math.segment import unsorted_segment_mean as unsorted_segment_mean
from weft.ops.math.segment import unsorted_segment_min as unsorted_segment_min
from weft.ops.math.segment import unsorted_segment_prod as unsorted_segment_prod
from weft.ops.math.segment import unsorted_segment_sqrt_n as unsorted_segment_sqrt_n
from weft.ops.math.segment import unsorted_segment_sum as unsorted_segment_sum
from weft.ops.math.special_functions import betainc as betainc
from weft.ops.math.special_functions import digamma as digamma
from weft.ops.math.special_functions import erf as erf
from weft.ops.math.special_functions import erfc as erfc
from weft.ops.math.special_functions import igamma as igamma
from weft.ops.math.special_functions import igammac as igammac
from weft.ops.math.special_functions import lbeta as lbeta
from weft.ops.math.special_functions import lgamma as lgamma
from weft.ops.math.special_functions import polygamma as polygamma
from weft.ops.math.special_functions import zeta as zeta
from weft.ops.math.trigonometry import acos as acos
from weft.ops.math.trigonometry import acosh as acosh
from weft.ops.math.trigonometry import asin as asin
from weft.ops.math.trigonometry import asinh as asinh
from weft.ops.math.trigonometry import atan as atan
from weft.ops.math.trigonometry import atan2 as atan2
from weft.ops.math.trigonometry import atanh as atanh
from weft.ops.math.trigonometry import cos as cos
from weft.ops.math.trigonometry import cosh as cosh
from weft.ops.math.trigonometry import sin as sin
from weft.ops.math.trigonometry import sinh as sinh
from weft.ops.math.trigonometry import tan as tan
from weft.ops.math.unary import ceil as ceil
from weft.ops.math.unary import exp as exp
from weft.ops.math.unary import expm1 as expm1
from weft.ops.math.unary import floor as floor
from weft.ops.math.unary import is_finite as is_finite
from weft.ops.math.unary import is_inf as is_inf
from weft.ops.math.unary import is_nan as is_nan
from weft.ops.math.unary import log as log
from weft.ops.math.unary import log1p as log1p
from weft.ops.math.unary import rint as rint
from weft.ops.math.unary import round_to_integer as _round_to_integer
from weft.ops.math.unary import rsqrt as rsqrt
from weft.ops.math.unary import sigmoid as sigmoid
from weft.ops.math.unary import sqrt as sqrt
from weft.ops.math.unary import tanh as tanh
from weft.ops.nn.activation import log_sigmoid as log_sigmoid
from weft.ops.process.clock import timestamp as timestamp
from weft.ops.process.script import numpy_function as numpy_function
from weft.ops.process.script import py_func as py_func
from weft.ops.process.session_tensor import delete_session_tensor as delete_session_tensor
from weft.ops.process.session_tensor import get_session_handle as get_session_handle
from weft.ops.process.session_tensor import get_session_tensor as get_session_tensor
from weft.ops.ragged import conversions as _ragged_conversions  # registers what ragged tensors of TensorFlow 2 have
from weft.ops.ragged import indexing as _ragged_indexing  # gives RaggedTensor its []
from weft.ops.ragged.spec import RaggedTensorSpec as RaggedTensorSpec
from weft.ops.ragged.strings import string_split as string_split
from weft.ops.ragged.tensor import RaggedTensor as RaggedTensor
from weft.ops.random import keyed as _keyed  # registers what random ops of TensorFlow 2 have
from weft.ops.random.functions import multinomial as multinomial
from weft.ops.random.functions import random_crop as random_crop
from weft.ops.random.functions import random_gamma as random_gamma
from weft.ops.random.functions import random_normal as random_normal
from weft.ops.random.functions import random_poisson as random_poisson
from weft.ops.random.functions import random_shuffle as random_shuffle
from weft.ops.random.functions import random_uniform as random_uniform
from weft.ops.random.functions import truncated_normal as truncated_normal
from weft.ops.random.seed import get_seed as get_seed
from weft.ops.random.seed import set_random_seed as set_random_seed
from weft.ops.signal.fourier import fft as fft
from weft.ops.signal.fourier import fft2d as fft2d
from weft.ops.signal.fourier import fft3d as fft3d
from weft.ops.signal.fourier import ifft as ifft
from weft.ops.signal.fourier import ifft2d as ifft2d
from weft.ops.signal.fourier import ifft3d as ifft3d
from weft.ops.sparse import operators as _sparse_operators
from weft.ops.sparse.arithmetic import sparse_add as sparse_add
from weft.ops.sparse.arithmetic import sparse_maximum as sparse_maximum
from weft.ops.sparse.arithmetic import sparse_minimum as sparse_minimum
from weft.ops.sparse.arithmetic import sparse_tensor_dense_matmul as sparse_tensor_dense_matmul
from weft.ops.sparse.joining import sparse_concat as sparse_concat
from weft.ops.sparse.joining import sparse_slice as sparse_slice
from weft.ops.sparse.joining import sparse_split as sparse_split
from weft.ops.sparse.layout import sparse_fill_empty_rows as sparse_fill_empty_rows
from weft.ops.sparse.layout import sparse_reorder as sparse_reorder
from weft.ops.sparse.layout import sparse_reset_shape as sparse_reset_shape
from weft.ops.sparse.layout import sparse_reshape as sparse_reshape
from weft.ops.sparse.layout import sparse_retain as sparse_retain
from weft.ops.sparse.layout import sparse_transpose as sparse_transpose
from weft.ops.sparse.reductions import sparse_reduce_max as sparse_reduce_max
from weft.ops.sparse.reductions import sparse_reduce_max_sparse as sparse_reduce_max_sparse
from weft.ops.sparse.reductions import sparse_reduce_sum as sparse_reduce_sum
from weft.ops.sparse.reductions import sparse_reduce_sum_sparse as sparse_reduce_sum_sparse
from weft.ops.sparse.reductions import sparse_softmax as sparse_softmax
from weft.ops.sparse.segment import sparse_segment_mean as sparse_segment_mean
from weft.ops.sparse.segment import sparse_segment_sqrt_n as sparse_segment_sqrt_n
from weft.ops.sparse.segment import sparse_segment_sum as sparse_segment_sum
from weft.ops.sparse.serialization import deserialize_many_sparse as deserialize_many_sparse
from weft.ops.sparse.serialization import serialize_many_sparse as serialize_many_sparse
from weft.ops.sparse.serialization import serialize_sparse as serialize_sparse
from weft.ops.sparse.tensors import sparse_mask as sparse_mask
from weft.ops.sparse.tensors import sparse_merge as sparse_merge
from weft.ops.sparse.tensors import sparse_placeholder as sparse_placeholder
from weft.ops.sparse.tensors import sparse_tensor_to_dense as sparse_tensor_to_dense
from weft.ops.sparse.tensors import sparse_to_dense as sparse_to_dense
from weft.ops.sparse.tensors import sparse_to_indicator as sparse_to_indicator
from weft.ops.state.scatter_update import scatter_add as scatter_add
from weft.ops.state.scatter_update import scatter_div as scatter_div
from weft.ops.state.scatter_update import scatter_max as scatter_max
from weft.ops.state.scatter_update import scatter_min as scatter_min
from weft.ops.state.scatter_update import scatter_mul as scatter_mul
from weft.ops.state.scatter_update import scatter_nd_add as scatter_nd_add
from weft.ops.state.scatter_update import scatter_nd_sub as scatter_nd_sub
from weft.ops.state.scatter_update import scatter_nd_update as scatter_nd_update
from weft.ops.state.scatter_update import scatter_sub as scatter_sub
from weft.ops.state.scatter_update import scatter_update as scatter_update
from weft.ops.strings.elementwise import as_string as as_string
from weft.ops.strings.elementwise import decode_base64 as decode_base64
from weft.ops.strings.elementwise import decode_raw as decode_raw
from weft.ops.strings.elementwise import encode_base64 as encode_base64
from weft.ops.strings.elementwise import string_length as string_length
from weft.ops.strings.elementwise import string_strip as string_strip
from weft.ops.strings.elementwise import string_to_number as string_to_number
from weft.ops.strings.elementwise import substr as substr
from weft.ops.strings.hash_buckets import string_to_hash_bucket as string_to_hash_bucket
from weft.ops.strings.hash_buckets import string_to_hash_bucket_fast as string_to_hash_bucket_fast
from weft.ops.strings.hash_buckets import string_to_hash_bucket_strong as string_to_hash_bucket_strong
from weft.ops.strings.parts import reduce_join as reduce_join
from weft.ops.strings.parts import string_join as string_join
from weft.ops.strings.regexes import regex_replace as regex_replace
from weft.ops.strings.tensor_strings import decode_compressed as decode_compressed
from weft.ops.strings.tensor_strings import decode_json_example as decode_json_example
from weft.ops.strings.tensor_strings import fingerprint as fingerprint
from weft.ops.strings.tensor_strings import parse_tensor as parse_tensor
from weft.ops.strings.tensor_strings import serialize_tensor as serialize_tensor
from weft.ops.summary.merge import merge as _merge
from weft.ops.summary.merge import merge_all as _merge_all
from weft.ops.summary.names import histogram_summary as histogram_summary
from weft.ops.summary.names import image_summary as image_summary
from weft.ops.summary.names import scalar_summary as scalar_summary
from weft.ops.variables.assign import assign as assign
from weft.ops.variables.assign import assign_add as assign_add
from weft.ops.variables.assign import assign_sub as assign_sub
from weft.ops.variables.assign import count_up_to as count_up_to
from weft.ops.variables.assign import is_variable_initialized as is_variable_initialized
from weft.ops.variables.batch_scatter import batch_scatter_update as batch_scatter_update
from weft.ops.variables.collections import all_variables as all_variables
from weft.ops.variables.collections import assert_variables_initialized as assert_variables_initialized
from weft.ops.variables.collections import global_variables as global_variables
from weft.ops.variables.collections import global_variables_initializer as global_variables_initializer
from weft.ops.variables.collections import initialize_all_variables as initialize_all_variables
from weft.ops.variables.collections import initialize_local_variables as initialize_local_variables
from weft.ops.variables.collections import initialize_variables as initialize_variables
from weft.ops.variables.collections import local_variables as local_variables
from weft.ops.variables.collections import local_variables_initializer as local_variables_initializer
from weft.ops.variables.collections import model_variables as model_variables
from weft.ops.variables.collections import moving_average_variables as moving_average_variables
from weft.ops.variables.collections import report_uninitialized_variables as report_uninitialized_variables
from weft.ops.variables.collections import trainable_variables as trainable_variables
from weft.ops.variables.collections import variables_initializer as variables_initializer
from weft.ops.variables.get_variable import create_partitioned_variables as create_partitioned_variables
from weft.ops.variables.get_variable import get_local_variable as get_local_variable
from weft.ops.variables.get_variable import get_variable as get_variable
from weft.ops.variables.get_variable import no_regularizer as no_regularizer
from weft.ops.variables.matrix_initializers import constant_initializer as constant_initializer
from weft.ops.variables.matrix_initializers import glorot_normal_initializer as glorot_normal_initializer
from weft.ops.variables.matrix_initializers import glorot_uniform_initializer as glorot_uniform_initializer
from weft.ops.variables.matrix_initializers import ones_initializer as ones_initializer
from weft.ops.variables.matrix_initializers import orthogonal_initializer as orthogonal_initializer
from weft.ops.variables.matrix_initializers import random_normal_initializer as random_normal_initializer
from weft.ops.variables.matrix_initializers import random_uniform_initializer as random_uniform_initializer
from weft.ops.variables.matrix_initializers import truncated_normal_initializer as truncated_normal_initializer
from weft.ops.variables.matrix_initializers import uniform_unit_scaling_initializer as uniform_unit_scaling_initializer
from weft.ops.variables.matrix_initializers import variance_scaling_initializer as variance_scaling_initializer
from weft.ops.variables.matrix_initializers import zeros_initializer as zeros_initializer
from weft.ops.variables.options import VariableAggregation as VariableAggregation
from weft.ops.variables.options import VariableSynchronization as VariableSynchronization
from weft.ops.variables.options import disable_resource_variables as disable_resource_variables
from weft.ops.variables.options import enable_resource_variables as enable_resource_variables
from weft.ops.variables.options import resource_variables_enabled as resource_variables_enabled
from weft.ops.variables.partitioners import fixed_size_partitioner as fixed_size_partitioner
from weft.ops.variables.partitioners import min_max_variable_partitioner as min_max_variable_partitioner
from weft.ops.variables.partitioners import variable_axis_size_partitioner as variable_axis_size_partitioner
from weft.ops.variables.ref_variable import RefVariable as RefVariable
from weft.ops.variables.resource_variable import ResourceVariable as ResourceVariable
from weft.ops.variables.scopes import VariableScope as VariableScope
from weft.ops.variables.scopes import get_variable_scope as get_variable_scope
from weft.ops.variables.template import make_template as make_template
from weft.ops.variables.variable import Variable as Variable
from weft.ops.variables.variable import variable_creator_scope as variable_creator_scope
from weft.ops.variables.variable_scope import variable_op_scope as variable_op_scope
from weft.ops.variables.variable_scope import variable_scope as variable_scope
from weft.ops.variables.variable_store import AUTO_REUSE as AUTO_REUSE
from weft.platform import app as app
from weft.platform import flags as flags
from weft.platform.files import gfile as gfile
from weft.platform.logs import tf_logging as _tf_logging
from weft.platform.logs.tf_logging import get_logger as get_logger
from weft.platform.op_library import load_file_system_library as load_file_system_library
from weft.platform.op_library import load_library as load_library
from weft.platform.op_library import load_op_library as load_op_library
from weft.platform.tracebacks import notebook_traceback as _notebook_traceback
from weft.platform.tracebacks import short_traceback as _short_traceback
from weft.proto.messages import AttrValue as AttrValue
from weft.proto.messages import ConfigProto as ConfigProto
from weft.proto.messages import Event as Event
from weft.proto.messages import GPUOptions as GPUOptions
from weft.proto.messages import GraphDef as GraphDef
from weft.proto.messages import GraphOptions as GraphOptions
from weft.proto.messages import HistogramProto as HistogramProto
from weft.proto.messages import LogMessage as LogMessage
from weft.proto.messages import MetaGraphDef as MetaGraphDef
from weft.proto.messages import NameAttrList as NameAttrList
from weft.proto.messages import NodeDef as NodeDef
from weft.proto.messages import OptimizerOptions as OptimizerOptions
from weft.proto.messages import RunMetadata as RunMetadata
from weft.proto.messages import RunOptions as RunOptions
from weft.proto.messages import SessionLog as SessionLog
from weft.proto.messages import Summary as Summary
from weft.proto.messages import SummaryMetadata as SummaryMetadata
from weft.proto.messages import TensorInfo as TensorInfo
from weft.translation.functions.function import function as function

# Under a name of its own: type checkers take a renamed import for the module's private business.
spectral = signal
NoGradient = NotDifferentiable
no_gradient = NotDifferentiable
get_static_value = _constant_value
tensor_scatter_nd_add = tensor_scatter_add
tensor_scatter_nd_sub = tensor_scatter_sub
tensor_scatter_nd_update = tensor_scatter_update
slice = _slice_of
lin_space = linspace
range = _range_of
reverse_v2 = reverse
Assert = _assert_that
print = _print_v2
Print = _print_values
tuple = _tuple_of
diag = _tensor_diag
diag_part = _tensor_diag_part
abs = _absolute
complex = _complex_of
floormod = _floor_mod
mod = _floor_mod
pow = _power
truncatediv = _truncate_div
truncatemod = _truncate_mod
multiply = _mul
negative = _neg
realdiv = _real_div
subtract = _sub
round = _round_to_integer
merge_summary = _merge
merge_all_summaries = _merge_all
logging = _tf_logging

_missing_names.watch_loaded()
for _door, _name in ((app, "app"), (errors, "errors"), (flags, "flags"), (gfile, "gfile"), (logging, "logging")):
    _missing_names.watch(_door, _name)
_short_traceback.install()
_notebook_traceback.install()
