"""Cases of ops that only graphs from elsewhere have."""

from __future__ import annotations

import numpy as np

from weft.framework.registry import op_registry
from weft.framework.types import dtypes
from weft.testing.op_checks import Case

_RANDOM = np.random.default_rng(3)


def _noise(*shape):
    return _RANDOM.normal(size=shape).astype(np.float32)


_DIAGONALS = np.array([[[9, 1], [2, 3], [4, 9]]], np.float32)
_SQUARE = np.array([[2, -1, 0], [1, 3, 1], [0, 1, -2]], np.float32)
_LOWER = np.tril(_noise(3, 3)) + 3 * np.eye(3, dtype=np.float32)


def _tridiagonal(above, middle, below, rhs):
    size = middle.shape[-1]
    return (np.diag(above[0, : size - 1], 1) + np.diag(middle[0]) + np.diag(below[0, 1:], -1)) @ rhs


MATRICES = [
    Case("MatrixDiagV2", [_DIAGONALS, [-1, 1], np.int32(-1), np.int32(-1), np.float32(0)], gradient=False,
         expected=lambda *_: np.array([[[2, 9], [4, 3]]])),
    Case("MatrixDiagPartV2", [_SQUARE, [-1, 1], np.float32(7)], gradient=False,
         expected=lambda *_: np.array([[-1, 1, 7], [2, 3, -2], [1, 1, 7]])),
    Case("MatrixSetDiagV2", [_SQUARE, np.float32([7, 8]), [1]], gradient=False,
         expected=lambda *_: np.array([[2, 7, 0], [1, 3, 8], [0, 1, -2]])),
    Case("TridiagonalMatMul", [_noise(1, 4), _noise(1, 4), _noise(1, 4), _noise(4, 2)], expected=_tridiagonal),
    Case("SparseMatMul", [_noise(2, 3), _noise(3, 4)], expected=lambda a, b: a @ b),
    Case("SparseMatMul", [_noise(3, 2), _noise(4, 3)], {"transpose_a": True, "transpose_b": True}, variant="transposed",
         expected=lambda a, b: a.T @ b.T),
    Case("BatchMatMulV3", [np.int8([[100, 2], [3, 4]]), np.int8([[5, 6], [7, 8]])], {"Tout": dtypes.int32}, sweep=False,
         expected=lambda a, b: a.astype(int) @ b.astype(int)),
    Case("CholeskyGrad", [_LOWER, np.tril(_noise(3, 3))], sweep=False),
]  # fmt: skip

_ROWS = np.arange(12, dtype=np.float32).reshape(4, 3)
_IDS = np.int32([0, 0, 2, 3])


def _updated(how):
    def expected(x, i, v):
        made = x.copy()
        how(made, i, v)
        return made

    return expected


def _put(made, i, v):
    made[i] = v


ARRAYS = [
    Case("InplaceUpdate", [_ROWS, [1, 3], _noise(2, 3)], expected=_updated(_put), gradient=False),
    Case("InplaceAdd", [_ROWS, [1, 1], _noise(2, 3)], expected=_updated(np.add.at), gradient=False),
    Case("InplaceSub", [_ROWS, [1, 1], _noise(2, 3)], expected=_updated(np.subtract.at), gradient=False),
    Case("ScatterNdNonAliasingAdd", [_ROWS, [[1], [1]], _noise(2, 3)],
         expected=lambda x, i, v: _updated(np.add.at)(x, i[:, 0], v)),
    Case("DataFormatDimMap", [np.int32([0, 1, 2, 3, -1])], expected=lambda _: np.array([0, 2, 3, 1, 1])),
    Case("DataFormatVecPermute", [np.int32([1, 4, 5, 3])], expected=lambda _: np.array([1, 3, 4, 5])),
    Case("DataFormatVecPermute", [np.int32([[1, 2], [3, 4]])], {"src_format": "NCHW", "dst_format": "NHWC"}, variant="sizes",
         expected=lambda x: x),
    Case("SegmentSumV2", [_ROWS, _IDS, np.int32(5)],
         expected=lambda x, *_: np.stack([x[0] + x[1], 0 * x[0], x[2], x[3], 0 * x[0]])),
    Case("SegmentProdV2", [_ROWS, _IDS, np.int32(4)], expected=lambda x, *_: np.stack([x[0] * x[1], x[0] ** 0, x[2], x[3]]),
         gradient=False),
    Case("SegmentMaxV2", [_ROWS[::-1].copy(), np.int32([0, 0, 1, 2]), np.int32(3)],
         expected=lambda x, *_: np.stack([x[0], x[2], x[3]])),
    Case("SegmentMinV2", [_ROWS[::-1].copy(), np.int32([0, 0, 1, 2]), np.int32(3)],
         expected=lambda x, *_: np.stack([x[1], x[2], x[3]])),
    Case("SparseSegmentSumGradV2", [_noise(2, 3), [5, 0, 5], [0, 0, 1], np.int32(7)],
         expected=lambda g, *_: (np.stack([g[0], g[0] + g[1]]), np.array([0, 5]))),
    Case("SparseSegmentMeanGradV2", [_noise(2, 3), [5, 0, 5], [0, 0, 1], np.int32(7)],
         expected=lambda g, *_: (np.stack([g[0] / 2, g[0] / 2 + g[1]]), np.array([0, 5]))),
    Case("SparseSegmentSqrtNGradV2", [_noise(2, 3), [5, 0, 5], [0, 0, 1], np.int32(7)],
         expected=lambda g, *_: (np.stack([g[0] / 2**0.5, g[0] / 2**0.5 + g[1]]), np.array([0, 5]))),
]  # fmt: skip

_NO_WEIGHTS = np.zeros(0, np.float32)
_PLACES = np.int64([[0, 1], [0, 3], [2, 0]])

COUNTS = [
    Case("SparseBincount", [_PLACES, np.int32([1, 1, 2]), np.int64([3, 4]), np.int32(3), _NO_WEIGHTS], gradient=False,
         expected=lambda *_: np.array([[0, 2, 0], [0, 0, 0], [0, 0, 1]])),
    Case("RaggedBincount", [np.int64([0, 2, 2, 3]), np.int32([1, 1, 2]), np.int32(3), np.float32([2, 3, 4])],
         expected=lambda *_: np.array([[0, 5, 0], [0, 0, 0], [0, 0, 4]]), gradient=False),
    Case("DenseCountSparseOutput", [np.int32([[1, 1, 2], [0, 5, 0]]), _NO_WEIGHTS], {"binary_output": False}, gradient=False,
         expected=lambda *_: (np.array([[0, 1], [0, 2], [1, 0], [1, 5]]), np.array([2, 1, 2, 1]), np.array([2, 6]))),
    Case("SparseCountSparseOutput", [_PLACES, np.int32([1, 1, 2]), np.int64([3, 4]), np.float32([1, 2, 4])],
         {"binary_output": False, "maxlength": 2}, gradient=False,
         expected=lambda *_: (np.array([[0, 1]]), np.array([3]), np.array([3, 2]))),
    Case("RaggedCountSparseOutput", [np.int64([0, 2, 2, 3]), np.int32([1, 1, 2]), _NO_WEIGHTS],
         {"binary_output": True, "minlength": 5}, gradient=False,
         expected=lambda *_: (np.array([[0, 1], [2, 2]]), np.array([1, 1]), np.array([3, 5]))),
]  # fmt: skip

_IMAGES = _RANDOM.permutation(2 * 5 * 6 * 2).reshape(2, 5, 6, 2).astype(np.float32)
_FILTER = _RANDOM.permutation(3 * 2 * 2).reshape(3, 2, 2).astype(np.float32) / 16
_GLIMPSES = [_IMAGES, [3, 3], np.float32([[0, 0], [0.2, -0.2]])]
_DILATION = {"strides": [1, 2, 1, 1], "rates": [1, 1, 2, 1], "padding": "SAME"}
_BOXES = np.float32([[[[0, 0, 1, 1]], [[0, 0, 0.9, 1.1]], [[0, 2, 1, 3]]]])
_SCORES = np.float32([[[0.9, 0.2], [0.8, 0.7], [0.3, 0.6]]])


def _volume(x):
    parts = [x[:, i : i + 2, j : j + 2, k : k + 2] for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    return np.concatenate(parts, 4)


IMAGES = [
    Case("ExtractVolumePatches", [_noise(1, 3, 3, 3, 2)], {"ksizes": [1, 2, 2, 2, 1], "strides": [1] * 5, "padding": "VALID"},
         expected=_volume),
    Case("Dilation2DBackpropInput", [_IMAGES, _FILTER, _noise(2, 3, 6, 2)], _DILATION, sweep=False),
    Case("Dilation2DBackpropFilter", [_IMAGES, _FILTER, _noise(2, 3, 6, 2)], _DILATION, sweep=False),
    Case("NonMaxSuppression", [_BOXES[0, :, 0], _SCORES[0, :, 0], np.int32(3)], expected=lambda *_: np.array([0, 2])),
    Case("NonMaxSuppressionV2", [_BOXES[0, :, 0], _SCORES[0, :, 0], np.int32(3), np.float32(0.95)],
         expected=lambda *_: np.array([0, 1, 2])),
    Case("ExtractGlimpse", _GLIMPSES, {"noise": "zero", "uniform_noise": False}, sweep=False, gradient=False),
    Case("ExtractGlimpseV2", _GLIMPSES, {"noise": "zero", "uniform_noise": False}, sweep=False, gradient=False),
    Case("ScaleAndTranslate", [_IMAGES, [3, 4], np.float32([0.6, 0.7]), np.float32([0.1, 0])], sweep=False, gradient=False),
    Case("ScaleAndTranslate", [_IMAGES, [3, 4], np.float32([1, 1]), np.float32([0, 0])], {"kernel_type": "box"},
         expected=lambda x, *_: x[:, :3, :4], variant="box", sweep=False,
         gradient=False),
    Case("ScaleAndTranslateGrad", [_noise(2, 3, 4, 2), _IMAGES, np.float32([0.6, 0.7]), np.float32([0.1, 0])], sweep=False),
    Case("EncodeJpegVariableQuality", [np.zeros((4, 4, 3), np.uint8), np.int32(50)], sweep=False, gradient=False),
]  # fmt: skip

_TEXTS = np.array([b"ab", b"abcdef"], object)

VALUES = [
    Case("SparseCrossV2", [[np.int64([[0, 0], [1, 0], [1, 1]])], [np.array([b"a", b"b", b"c"], object)], [np.int64([2, 2])],
                           [np.int64([[1, 2], [3, 4]])], np.array(b"-", object)], sweep=False, gradient=False,
         known_shape=False,
         expected=lambda *_: (np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [1, 3]]),
                              np.array([b"a-1", b"a-2", b"b-3", b"b-4", b"c-3", b"c-4"], object), np.array([2, 4]))),
    Case("CTCLossV2", [_noise(4, 2, 3), np.array([[0, 0], [0, 1], [1, 0]]), [1, 2, 2], [4, 3]], sweep=False, gradient=False),
    Case("DecodePaddedRaw", [_TEXTS, np.int32(4)], {"out_type": dtypes.uint16}, gradient=False, sweep=False,
         expected=lambda *_: np.array([[0x6261, 0], [0x6261, 0x6463]])),
]  # fmt: skip

ROWS = [
    Case("RaggedFillEmptyRows", [np.array([1, 1, 3]), np.array([2.0, 3.0, 4.0], np.float32), np.int64(5), np.float32(9)],
         sweep=False, gradient=False, known_shape=False,
         expected=lambda *_: (np.array([0, 1, 1, 2, 3, 4]), np.array([9, 2, 3, 9, 4, 9]),
                              np.array([True, False, True, False, True]), np.array([1, 2, 4]))),
    Case("RaggedFillEmptyRowsGrad", [np.array([1, 2, 4]), np.arange(6, dtype=np.float32)], sweep=False, gradient=False,
         expected=lambda *_: (np.array([1, 2, 4]), np.float32(8))),
]  # fmt: skip

CASES = [*ROWS, *MATRICES, *ARRAYS, *COUNTS, *IMAGES, *VALUES]

_HANDLES = "works on handles: tests/ops/foreign"
WITHOUT_CASE = {
    "Eig": "its vectors may have any phase: tests/ops/foreign",
    **dict.fromkeys((
        "TensorListConcat", "TensorListPushBackBatch", "RaggedTensorToVariant", "RaggedTensorFromVariant",
        "RaggedTensorToVariantGradient", "RewriteDataset", "ParallelInterleaveDatasetV3", "LegacyParallelInterleaveDatasetV2",
        "SlidingWindowDataset", "SamplingDataset", "RebatchDatasetV2", "ParseExampleDataset", "ParseExampleDatasetV2",
        "MaxIntraOpParallelismDataset", "NonSerializableDataset", "OptimizeDatasetV2", "ChooseFastestDataset",
        "AssertCardinalityDataset", "PrivateThreadPoolDataset",
    ), _HANDLES),
    **{
        each.name: "another name of an op that has its tests"
        for each in op_registry.registered()
        if each.name.startswith("Experimental")
    },
}  # fmt: skip
