"""tf.math: the mathematical functions under the names that newer programs call them by."""

from __future__ import annotations

from weft.models.metrics.confusion_matrix import confusion_matrix as confusion_matrix
from weft.ops.array.topk import in_top_k as in_top_k
from weft.ops.array.topk import top_k as top_k
from weft.ops.array.transposing import invert_permutation as invert_permutation
from weft.ops.debugging.checks import is_non_decreasing as is_non_decreasing
from weft.ops.debugging.checks import is_strictly_increasing as is_strictly_increasing
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
from weft.ops.math.complex_numbers import conj as conj
from weft.ops.math.complex_numbers import imag as imag
from weft.ops.math.complex_numbers import real as real
from weft.ops.math.complex_numbers import sign as sign
from weft.ops.math.counting import bincount as bincount
from weft.ops.math.division import div_no_nan as _div_no_nan
from weft.ops.math.division import divide as divide
from weft.ops.math.division import floor_mod as _floor_mod
from weft.ops.math.division import floordiv as floordiv
from weft.ops.math.division import mul_no_nan as _mul_no_nan
from weft.ops.math.division import power as _power
from weft.ops.math.division import reciprocal_no_nan as reciprocal_no_nan
from weft.ops.math.division import truediv as truediv
from weft.ops.math.division import xdivy as xdivy
from weft.ops.math.division import xlog1py as xlog1py
from weft.ops.math.division import xlogy as xlogy
from weft.ops.math.elementwise import accumulate_n as accumulate_n
from weft.ops.math.elementwise import add as add
from weft.ops.math.elementwise import add_n as add_n
from weft.ops.math.elementwise import mul as _mul
from weft.ops.math.elementwise import neg as _neg
from weft.ops.math.elementwise import reciprocal as reciprocal
from weft.ops.math.elementwise import square as square
from weft.ops.math.elementwise import squared_difference as squared_difference
from weft.ops.math.elementwise import sub as _sub
from weft.ops.math.norms import polyval as polyval
from weft.ops.math.norms import scalar_mul as scalar_mul
from weft.ops.math.reduce_functions import argmax as argmax
from weft.ops.math.reduce_functions import argmin as argmin
from weft.ops.math.reduce_functions import count_nonzero as count_nonzero
from weft.ops.math.reduce_functions import reduce_all as reduce_all
from weft.ops.math.reduce_functions import reduce_any as reduce_any
from weft.ops.math.reduce_functions import reduce_euclidean_norm as reduce_euclidean_norm
from weft.ops.math.reduce_functions import reduce_logsumexp as reduce_logsumexp
from weft.ops.math.reduce_functions import reduce_max as reduce_max
from weft.ops.math.reduce_functions import reduce_mean as reduce_mean
from weft.ops.math.reduce_functions import reduce_min as reduce_min
from weft.ops.math.reduce_functions import reduce_prod as reduce_prod
from weft.ops.math.reduce_functions import reduce_std as reduce_std
from weft.ops.math.reduce_functions import reduce_sum as reduce_sum
from weft.ops.math.reduce_functions import reduce_variance as reduce_variance
from weft.ops.math.scans import cumprod as cumprod
from weft.ops.math.scans import cumsum as cumsum
from weft.ops.math.scans import cumulative_logsumexp as cumulative_logsumexp
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
from weft.ops.math.special_functions import bessel_i0 as bessel_i0
from weft.ops.math.special_functions import bessel_i0e as bessel_i0e
from weft.ops.math.special_functions import bessel_i1 as bessel_i1
from weft.ops.math.special_functions import bessel_i1e as bessel_i1e
from weft.ops.math.special_functions import betainc as betainc
from weft.ops.math.special_functions import digamma as digamma
from weft.ops.math.special_functions import erf as erf
from weft.ops.math.special_functions import erfc as erfc
from weft.ops.math.special_functions import erfinv as erfinv
from weft.ops.math.special_functions import igamma as igamma
from weft.ops.math.special_functions import igammac as igammac
from weft.ops.math.special_functions import lbeta as lbeta
from weft.ops.math.special_functions import lgamma as lgamma
from weft.ops.math.special_functions import ndtri as ndtri
from weft.ops.math.special_functions import nextafter as nextafter
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
from weft.ops.nn.activation import softplus as softplus
from weft.ops.nn.activation import softsign as softsign
from weft.ops.nn.norm import l2_normalize as l2_normalize
from weft.ops.nn.norm import zero_fraction as zero_fraction
from weft.ops.nn.softmax import log_softmax as log_softmax
from weft.ops.nn.softmax import softmax as softmax

# Under a name of its own: type checkers take a renamed import for the module's private business.
abs = _absolute
divide_no_nan = _div_no_nan
floormod = _floor_mod
mod = _floor_mod
multiply_no_nan = _mul_no_nan
pow = _power
multiply = _mul
negative = _neg
subtract = _sub
round = _round_to_integer
