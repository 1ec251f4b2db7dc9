"""Cases of which TensorFlow does not say what comes out: its kernels do not check what they count on, or C++ leaves it open.

A case is left out where what is told here holds of its inputs. Each rule is as narrow as its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from tests.differential.ops.case import OpCase, Variable
from weft.errors import OpError
from weft.framework.dtypes import as_dtype
from weft.ops.declaration import definition_of
from weft.ops.nn import pooling
from weft.ops.nn.ctc import ctc_beam_search_decoder_node
from weft.ops.nn.window import place

_Rule = Callable[[OpCase], bool]


def _arrays(case: OpCase) -> list[Any]:
    members = [each for value in case.values for each in (value if isinstance(value, list) else [value])]
    return [np.asarray(each.value if isinstance(each, Variable) else each) for each in members]


def _has_nan(case: OpCase) -> bool:
    return any(array.dtype.kind in "fcV" and bool(np.isnan(array.astype(np.complex128)).any()) for array in _arrays(case))


def _does_not_fit_integer(case: OpCase) -> bool:
    (value,) = _arrays(case)
    target = as_dtype(case.attrs.get("DstT", "float32"))
    if not target.is_integer or not (as_dtype(value.dtype).is_floating or as_dtype(value.dtype).is_complex):
        return False
    real = value.real.astype(np.float64)
    inside = (np.trunc(real) >= float(target.min)) & (np.trunc(real) < float(target.max) + 1)
    return not bool(np.all(inside))


def _overflows(case: OpCase) -> bool:
    value = _arrays(case)[0]
    if value.dtype.kind != "i":
        return False
    total = int(np.abs(value.astype(object)).sum()) if value.size else 0
    return total > np.iinfo(value.dtype).max


def _pools(case: OpCase) -> bool:
    """Whether the second input is what pooling makes of the first."""
    values, attrs = case.values, case.attrs
    sizes = (values[3], values[4]) if case.op.endswith("V2") else (attrs["ksize"], attrs["strides"])
    try:
        window = place(values[0].shape, *([int(size) for size in each] for each in sizes), attrs["padding"],
                       None, attrs.get("explicit_paddings") or ())  # fmt: skip
        return bool(np.array_equal(pooling.greatest(np, values[0], window), values[1]))
    except (ValueError, IndexError, ZeroDivisionError):
        return False


def _of_other_windows(case: OpCase) -> bool:
    """Whether the gradient of a mean has another shape than the mean, where both ranks are right."""
    shape, grad = case.values
    attrs = case.attrs
    if len(shape) != len(attrs["ksize"]) or min(attrs["strides"]) < 1:
        return False
    window = place([int(size) for size in shape], attrs["ksize"], attrs["strides"], attrs["padding"])
    return grad.shape != window.outputs


def _is_disordered(indices: Any) -> bool:
    rows = [tuple(row) for row in np.atleast_2d(indices).tolist()]
    return rows != sorted(set(rows))


def _of_disordered(*places: int) -> _Rule:
    """Whether the indices of a sparse input are not in order, or some come twice."""
    return lambda case: any(case.values[at].ndim == 2 and _is_disordered(case.values[at]) for at in places)


def _is_outside(indices: Any, shape: Any) -> bool:
    if indices.ndim != 2 or shape.ndim != 1 or indices.shape[1] != len(shape):
        return False
    return bool(np.any((indices < 0) | (indices >= shape)))


def _of_outside(*places: tuple[int, int]) -> _Rule:
    """Whether a sparse input has an index outside of its own shape."""
    return lambda case: any(_is_outside(case.values[at], case.values[shape]) for at, shape in places)


def _either(*rules: _Rule) -> _Rule:
    return lambda case: any(rule(case) for rule in rules)


def _is_no_color(case: OpCase) -> bool:
    (image,) = _arrays(case)
    wide = image.astype(np.float64)
    return not bool(np.all((wide >= 0) & (wide <= 1)))


def _has_no_range(case: OpCase) -> bool:
    """Whether the bounds of a quantization are no finite numbers in order."""
    low, high = (each.astype(np.float64) for each in case.values[-2:])
    return not bool(np.isfinite(low).all() and np.isfinite(high).all() and np.all(low <= high))


def _overflows_squared(case: OpCase) -> bool:
    with np.errstate(all="ignore"):
        return any(not bool(np.isfinite(np.abs(each.astype(np.complex128)) ** 4).all())
                   or bool(np.any(np.abs(each.astype(np.complex128)) > 1e9)) for each in _arrays(case))  # fmt: skip


def _holds_greatest(case: OpCase) -> bool:
    return any(each.dtype.kind in "iu" and bool(np.any(each == np.iinfo(each.dtype).max)) for each in _arrays(case))


def _has_negative(place: int) -> _Rule:
    return lambda case: bool(np.any(case.values[place] < 0))


def _has_other_peepholes(case: OpCase) -> bool:
    cells = case.values[2].shape[-1:]
    return any(each.shape != cells for each in case.values[5:8])


def _ends_elsewhere(case: OpCase) -> bool:
    """Whether the splits of rows end elsewhere than the values do."""
    kinds = case.attrs.get("row_partition_types", [])
    values, parts = case.values[1], case.values[3]
    last = [part for kind, part in zip(kinds, parts, strict=False) if kind in ("ROW_SPLITS", b"ROW_SPLITS")][-1:]
    return bool(last) and last[0].ndim == 1 and last[0].size > 0 and int(last[0][-1]) != len(np.atleast_1d(values))


def _has_no_columns(case: OpCase) -> bool:
    return any(case.values[at].shape[-1:] == (0,) for at in (1, 2, 3))


def _crosses_disordered(case: OpCase) -> bool:
    return any(rows.ndim == 2 and (_is_disordered(rows) or _is_outside(rows, shape))
               for rows, shape in zip(case.values[0], case.values[2], strict=True))  # fmt: skip


def _is_unsorted(case: OpCase) -> bool:
    return not case.attrs.get("sorted", True)


def _ties(case: OpCase) -> bool:
    """Whether two label sequences that are asked for are equally probable."""
    inputs, lengths = case.values
    if inputs.ndim != 3 or not inputs.size or not np.isfinite(inputs).all():
        return False
    try:
        *_, scores = definition_of(ctc_beam_search_decoder_node).kernel(None, inputs.astype(np.float64), lengths, **case.attrs)
    except OpError:
        return False
    return bool(np.any(np.isclose(scores[:, 1:], scores[:, :-1])))


def _infers_halves(case: OpCase) -> bool:
    return case.values[0].dtype.itemsize == 2 and not case.attrs.get("is_training", True)


def _has_other_threshold(case: OpCase) -> bool:
    return case.values[1].dtype.kind in "iu" and case.values[6].dtype != case.values[1].dtype


def _has_short_counter(case: OpCase) -> bool:
    return case.values[2].shape == (1,)


def _is_empty(place: int) -> _Rule:
    return lambda case: case.values[place].size == 0


def _has_other_rank(place: int, rank: int) -> _Rule:
    return lambda case: case.values[place].ndim != rank


def _is_short(place: int) -> _Rule:
    return lambda case: case.values[place].dtype == np.int16


_GREATEST: Final = "which of numbers and NaN is the greatest depends on where it stands"
_UNORDERED: Final = "TensorFlow counts on sparse indices in order, each once, and within the shape, and does not check that"
_BOTH: Final = _of_disordered(0, 3), _of_outside((0, 2), (3, 5))
_ONE: Final = _of_disordered(0), _of_outside((0, 2))
_RESERVED: Final = "TensorFlow leaves what it reserves for the gradient unwritten, in half precision without training"
_MATRICES: Final = "numbers whose squares overflow, NaN and infinities spread as each library works through a matrix"

UNDEFINED: Final[Mapping[str, tuple[_Rule, str]]] = {
    "Cast": (_does_not_fit_integer, "what an integer is of a float that it cannot hold depends on the processor"),
    "Mean": (_overflows, "C++ leaves open what an integer is that overflows"),
    **dict.fromkeys(("MaxPool", "MaxPoolV2", "MaxPool3D", "MaxPoolWithArgmax", "Dilation2D", "Dilation2DBackpropInput",
                     "Dilation2DBackpropFilter", "SegmentMax", "SegmentMin"), (_has_nan, _GREATEST)),
    "TopKV2": (_either(_has_nan, _is_unsorted), f"{_GREATEST}, and the order of what is asked for unsorted is not said"),
    **dict.fromkeys(("MaxPoolGrad", "MaxPoolGradV2", "MaxPoolGradGrad", "MaxPool3DGrad", "MaxPool3DGradGrad",
                     "MaxPoolGradGradV2"),
                    (lambda case: not _pools(case), "there is a gradient where one input is what pooling made of another")),
    **dict.fromkeys(("AvgPoolGrad", "AvgPool3DGrad"),
                    (_of_other_windows, "TensorFlow does not check that the gradient has the shape of the means")),
    "BlockLSTMGrad": (_has_other_peepholes, "TensorFlow does not check the shapes of the peepholes"),
    "RGBToHSV": (_is_no_color, "the op is defined for numbers from 0 to 1"),
    **dict.fromkeys(("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel"),
                    (_has_no_range, "a range has finite bounds, the lower one first")),
    **dict.fromkeys(("Qr", "SelfAdjointEigV2"), (_overflows_squared, _MATRICES)),
    "FusedBatchNormV2": (_infers_halves, _RESERVED),
    "FusedBatchNormV3": (_infers_halves, _RESERVED),
    **dict.fromkeys(("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"),
                    (_is_empty(1), "of no images there is no mean")),
    "RaggedCountSparseOutput": (_either(_holds_greatest, _has_other_rank(1, 1)),
                                "C++ leaves open what the number behind the greatest integer is, and that the values are a "
                                "vector is not checked"),
    **dict.fromkeys(("DenseCountSparseOutput", "SparseCountSparseOutput"),
                    (_holds_greatest, "C++ leaves open what the number behind the greatest integer is")),
    "SparseBincount": (_has_negative(1), "TensorFlow writes numbers below zero before the result"),
    "RaggedTensorToTensor": (_ends_elsewhere, "TensorFlow does not check that the rows end where the values do"),
    "CTCBeamSearchDecoder": (_ties, "which of equally probable sequences comes first is not said"),
    "Dilation2D": (_either(_has_nan, _is_empty(1)), f"{_GREATEST}; of no numbers there is no greatest one"),
    "ArgMax": (_is_short(1), "TensorFlow reads an int16 as if it were an int32"),
    "DepthwiseConv2dNativeBackpropFilter": (
        _is_empty(0), "TensorFlow gives an output's gradient without images the shape of the images"),
    **dict.fromkeys(("SparseSegmentSumGrad", "SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad"),
                    (_is_empty(1), "TensorFlow leaves the result unwritten where there are no indices")),
    **dict.fromkeys(("ApplyFtrl", "ApplyFtrlV2", "SparseApplyFtrl", "SparseApplyFtrlV2", "ResourceApplyFtrl",
                     "ResourceApplyFtrlV2", "ResourceSparseApplyFtrl", "ResourceSparseApplyFtrlV2"),
                    (_has_nan, "TensorFlow's dense and sparse kernels do differently with NaN")),
    "SparseAdd": (_either(*_BOTH, _has_other_threshold),
                  f"{_UNORDERED}; it reads the threshold of integers as an integer whatever its type"),
    **dict.fromkeys(("StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2",
                     "StatelessRandomUniformIntV2", "StatelessRandomUniformFullIntV2"),
                    (_has_short_counter, "TensorFlow reads beyond a counter that is too short")),
    **dict.fromkeys(("SparseSparseMinimum", "SparseSparseMaximum"), (_either(*_BOTH), _UNORDERED)),
    "EditDistance": (_of_disordered(0, 3), _UNORDERED),
    "SparseAddGrad": (_either(_of_disordered(1, 2, 3), _has_no_columns), _UNORDERED),
    **dict.fromkeys(("SparseSoftmax", "SparseReduceSumSparse", "SparseReduceMaxSparse"), (_either(*_ONE), _UNORDERED)),
    "SparseCrossV2": (_crosses_disordered, _UNORDERED),
}  # fmt: skip
"""By the ops' names, when a case is undefined, and why."""


def is_undefined(case: OpCase) -> bool:
    """Whether TensorFlow leaves open what comes out of the case."""
    rule = UNDEFINED.get(case.op)
    if rule is None or case.inputs is None:
        return False
    try:
        return rule[0](case)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        # Such inputs do not fit at all, which both must tell.
        return False
