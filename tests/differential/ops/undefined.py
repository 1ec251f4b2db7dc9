"""Cases of which TensorFlow does not say what comes out: its kernels do not check what they count on, or C++ leaves it open.

A case is left out where what is told here holds of its inputs. Each rule is as narrow as its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from tests.differential.ops.case import OpCase, arrays_of
from weft.framework.types.dtypes import as_dtype
from weft.ops.nn.window import place

_Rule = Callable[[OpCase], bool]


def _has_nan(case: OpCase) -> bool:
    return any(array.dtype.kind in "fcV" and bool(np.isnan(array.astype(np.complex128)).any()) for array in arrays_of(case))


def _does_not_fit_integer(case: OpCase) -> bool:
    (value,) = arrays_of(case)
    target = as_dtype(case.attrs.get("DstT", "float32"))
    if not target.is_integer or not (as_dtype(value.dtype).is_floating or as_dtype(value.dtype).is_complex):
        return False
    real = value.real.astype(np.float64)
    inside = (np.trunc(real) >= float(target.min)) & (np.trunc(real) < float(target.max) + 1)
    return not bool(np.all(inside))


def _overflows(case: OpCase) -> bool:
    value, axes = arrays_of(case)[:2]
    if value.dtype.kind != "i":
        return False
    totals = np.abs(value.astype(object)).sum(tuple(np.ravel(axes).tolist()))
    return bool(np.any(np.asarray(totals) > np.iinfo(value.dtype).max))


def _greatest(value: Any, sizes: Any, strides: Any, padding: str, explicit: Any) -> Any:
    """What pooling makes of an array: window by window, as its definition says."""
    ends = []
    for axis, (length, size, stride) in enumerate(zip(value.shape, sizes, strides, strict=True)):
        before, after = explicit[2 * axis : 2 * axis + 2] if padding == "EXPLICIT" else (0, 0)
        if padding == "SAME":
            before, after = divmod(max((-(-length // stride) - 1) * stride + size - length, 0), 2)
            after += before
        firsts = range(-before, length + after - size + 1, stride)
        ends.append([slice(max(first, 0), min(first + size, length)) for first in firsts])
    made = np.zeros([len(each) for each in ends], value.dtype)
    for at in np.ndindex(made.shape):
        made[at] = value[tuple(each[i] for each, i in zip(ends, at, strict=True))].max()
    return made


def _is_of_another(case: OpCase) -> bool:
    """Whether the second input has the shape of what pooling makes of the first, but other values: all else is an error."""
    values, attrs = case.values, case.attrs
    sizes, strides = (values[3], values[4]) if case.op.endswith("V2") else (attrs["ksize"], attrs["strides"])
    ranks = {values[0].ndim, len(sizes), len(strides)}
    if len(ranks) > 1 or not values[0].size or min(*sizes, *strides) < 1:
        return False
    made = _greatest(values[0], [int(each) for each in sizes], [int(each) for each in strides], attrs["padding"],
                     attrs.get("explicit_paddings") or ())  # fmt: skip
    return made.shape == values[1].shape and not bool(np.array_equal(made, values[1]))


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


def _has_no_range(case: OpCase) -> bool:
    """Whether the bounds of a quantization are no finite numbers in order."""
    low, high = (each.astype(np.float64) for each in case.values[-2:])
    return not bool(np.isfinite(low).all() and np.isfinite(high).all() and np.all(low <= high))


def _overflows_squared(case: OpCase) -> bool:
    """Whether the sum of the squares of the numbers is not finite in their own type, or some are not themselves."""
    (value,) = arrays_of(case)
    greatest = float(np.finfo(value.real.dtype).max)
    with np.errstate(all="ignore"):
        total = np.sum(np.square(np.abs(value.astype(np.clongdouble))))
    return not bool(total <= greatest)


def _holds_greatest(case: OpCase) -> bool:
    return any(each.dtype.kind in "iu" and bool(np.any(each == np.iinfo(each.dtype).max)) for each in arrays_of(case))


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


def _has_other_gradients(case: OpCase) -> bool:
    """Whether the gradients that come into a BlockLSTMGrad have another shape than what they are of."""
    made = case.values[9].shape
    return any(each.shape != made for each in case.values[16:18])


def _has_unlikely_classes(case: OpCase) -> bool:
    """Whether a step's probabilities are not numbers: it has NaN or an infinity, or nothing but minus infinities."""
    greatest = case.values[0].max(-1)
    return not bool(np.isfinite(greatest).all())


def _is_of_blanks(case: OpCase) -> bool:
    """Whether a sequence is labelled with blanks alone."""
    logits, indices, labels = case.values[:3]
    is_label = labels < logits.shape[-1] - 1
    return set(indices[:, 0].tolist()) != set(indices[is_label, 0].tolist())


def _has_no_places(case: OpCase) -> bool:
    return case.attrs.get("data_format") == "NCHW" and case.values[0].ndim < 3


def _has_no_columns(case: OpCase) -> bool:
    return any(case.values[at].shape[-1:] == (0,) for at in (1, 2, 3))


def _crosses_disordered(case: OpCase) -> bool:
    return any(rows.ndim == 2 and (_is_disordered(rows) or _is_outside(rows, shape))
               for rows, shape in zip(case.values[0], case.values[2], strict=True))  # fmt: skip


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
                     "Dilation2DBackpropFilter", "SegmentMax", "SegmentMin", "TopKV2"), (_has_nan, _GREATEST)),
    **dict.fromkeys(("MaxPoolGrad", "MaxPoolGradV2", "MaxPoolGradGrad", "MaxPool3DGrad", "MaxPool3DGradGrad",
                     "MaxPoolGradGradV2"),
                    (_is_of_another, "there is a gradient where one input is what pooling made of another")),
    **dict.fromkeys(("AvgPoolGrad", "AvgPool3DGrad"),
                    (_of_other_windows, "TensorFlow does not check that the gradient has the shape of the means")),
    **dict.fromkeys(("BlockLSTMGrad", "BlockLSTMGradV2"),
                    (_either(_has_other_peepholes, _has_other_gradients),
                     "TensorFlow does not check the shapes of the peepholes, and of the gradients that come in")),
    **dict.fromkeys(("CTCBeamSearchDecoder", "CTCGreedyDecoder"), (_has_unlikely_classes, _GREATEST)),
    "CTCLoss": (_is_of_blanks, "TensorFlow writes before its table where a sequence is labelled with blanks alone"),
    "BiasAddGrad": (_has_no_places, "TensorFlow 1.15 ends at channels first without a place behind them"),
    **dict.fromkeys(("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel"),
                    (_has_no_range, "a range has finite bounds, the lower one first")),
    **dict.fromkeys(("Qr", "SelfAdjointEigV2"), (_overflows_squared, _MATRICES)),
    "FusedBatchNormV2": (_infers_halves, _RESERVED),
    "FusedBatchNormV3": (_infers_halves, _RESERVED),
    **dict.fromkeys(("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"),
                    (_is_empty(1), "of no images there is no mean")),
    "FusedBatchNorm": (_is_empty(0), "of no images there is no mean"),
    "Fingerprint": (_is_empty(0), "TensorFlow leaves the fingerprint of no bytes unwritten"),
    "RaggedCountSparseOutput": (_either(_holds_greatest, _has_other_rank(1, 1)),
                                "C++ leaves open what the number behind the greatest integer is, and that the values are a "
                                "vector is not checked"),
    **dict.fromkeys(("DenseCountSparseOutput", "SparseCountSparseOutput"),
                    (_holds_greatest, "C++ leaves open what the number behind the greatest integer is")),
    "SparseBincount": (_has_negative(1), "TensorFlow writes numbers below zero before the result"),
    "RaggedTensorToTensor": (_ends_elsewhere, "TensorFlow does not check that the rows end where the values do"),
    "Dilation2D": (_either(_has_nan, _is_empty(1)), f"{_GREATEST}; of no numbers there is no greatest one"),
    "ArgMax": (_is_short(1), "TensorFlow reads an int16 as if it were an int32"),
    "DepthwiseConv2dNativeBackpropFilter": (
        _is_empty(0), "TensorFlow gives an output's gradient without images the shape of the images"),
    **dict.fromkeys(("SparseSegmentSumGrad", "SparseSegmentMeanGrad", "SparseSegmentSqrtNGrad"),
                    (_is_empty(1), "TensorFlow leaves the result unwritten where there are no indices")),
    **dict.fromkeys(("SparseApplyFtrl", "SparseApplyFtrlV2", "ResourceSparseApplyFtrl", "ResourceSparseApplyFtrlV2"),
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

UNDEFINED_GRADIENTS: Final[Mapping[str, tuple[_Rule, str]]] = {
    **dict.fromkeys(
        (f"SparseSegment{kind}{suffix}" for kind in ("Sum", "Mean", "SqrtN") for suffix in ("", "WithNumSegments")),
        (_is_empty(1), "TensorFlow leaves the gradient unwritten where there are no indices"),
    ),
    "Conv2D": (_is_empty(0), "TensorFlow leaves the filter's gradient unwritten where there are no images"),
}
"""By the ops' names, when the gradients alone are undefined, and why."""


def is_undefined(case: OpCase) -> bool:
    """Whether TensorFlow leaves open what comes out of the case."""
    return _holds(UNDEFINED.get(case.op), case)


def has_undefined_gradient(case: OpCase) -> bool:
    """Whether TensorFlow leaves open what the gradients of the case are."""
    return _holds(UNDEFINED_GRADIENTS.get(case.op), case)


def _holds(rule: tuple[_Rule, str] | None, case: OpCase) -> bool:
    if rule is None or case.inputs is None:
        return False
    try:
        return rule[0](case)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        # Such inputs do not fit at all, which both must tell.
        return False
