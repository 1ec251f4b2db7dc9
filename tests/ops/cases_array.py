"""Cases of shapes, joining, slicing, gathering, selecting, blocks, sets, sequences, checks and strings."""

from __future__ import annotations

import numpy as np

from weft.framework.types import dtypes
from weft.testing.op_checks import Case

X = np.array([[0.5, -1.25, 2.0], [-0.75, 1.5, -3.0]], np.float32)
Y = np.array([[1.5, 0.25, -2.5], [2.25, -0.5, 1.0]], np.float32)
CUBE = (np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 7 - 1.3).astype(np.float32)
IMAGES = (np.arange(2 * 4 * 6 * 4, dtype=np.float32).reshape(2, 4, 6, 4) / 50 - 1.3).astype(np.float32)
IDS = np.array([3, 1, 3, 0, 1], np.int32)
LETTERS = np.array([b"b", b"a", b"b"], object)


def _texts(*items):
    return np.array([item.encode() for item in items], object)


def _as_objects(items, shape=None):
    array = np.empty(len(items), object)
    array[:] = items
    return array if shape is None else array.reshape(shape)


PASSING = [
    Case("Identity", [X], expected=lambda x: x),
    Case("DebugGradientIdentity", [X], expected=lambda x: x),
    Case("IdentityN", [[X, IDS]], expected=lambda xs: tuple(xs)),
    Case("StopGradient", [X], expected=lambda x: x),
    Case("PreventGradient", [X], expected=lambda x: x, gradient=False),
    Case("Snapshot", [X], expected=lambda x: x),
    Case("PlaceholderWithDefault", [X], {"shape": (None, 3)}, expected=lambda x: x, known_shape=False),
    Case("EnsureShape", [X], {"shape": (None, 3)}, expected=lambda x: x),
]

SHAPES = [
    Case("Shape", [CUBE], expected=lambda x: np.array([2, 3, 4])),
    Case("Shape", [CUBE], {"out_type": dtypes.int64}, expected=lambda x: np.array([2, 3, 4]), variant="int64"),
    Case("ShapeN", [[X, CUBE[0]]], expected=lambda xs: ([2, 3], [3, 4])),
    Case("Rank", [CUBE], expected=lambda x: 3),
    Case("Size", [CUBE], expected=lambda x: 24),
    Case("ReversedAxes", [CUBE], expected=lambda x: np.array([2, 1, 0])),
    Case("Reshape", [CUBE, [4, -1]], expected=lambda x, s: x.reshape(4, 6)),
    Case("Reshape", [CUBE, np.array([24], np.int64)], expected=lambda x, s: x.ravel(), variant="flat"),
    Case("Reshape", [CUBE[:1, :1, :1], np.zeros(0, np.int32)], expected=lambda x, s: x[0, 0, 0], variant="scalar"),
    Case("Reshape", [np.zeros((0, 3), np.float32), [-1, 3]], expected=lambda x, s: x, variant="empty"),
    Case("Reshape", [np.zeros((0, 6), np.float32), [0, -1, 3]], expected=lambda x, s: x.reshape(0, 2, 3), variant="beside 0"),
    Case("ExpandDims", [X, -1], expected=lambda x, d: x[..., None]),
    Case("ExpandDims", [X, 0], expected=lambda x, d: x[None], variant="first"),
    Case("Squeeze", [X[:1, None]], expected=lambda x: np.squeeze(x)),
    Case("Squeeze", [X[:1, None]], {"squeeze_dims": [-2]}, expected=lambda x: x[:, 0], variant="one"),
    Case("Transpose", [CUBE, [2, 0, 1]], expected=lambda x, p: x.transpose(p)),
    Case("ConjugateTranspose", [(X + 1j * Y).astype(np.complex64), [1, 0]], expected=lambda x, p: x.conj().T),
    Case("MatrixTranspose", [CUBE], expected=lambda x: x.swapaxes(1, 2), known_shape=False),
    Case("InvertPermutation", [np.array([2, 0, 1], np.int32)], expected=lambda x: np.argsort(x), sweep=False),
]

FILLED = [
    Case("Fill", [[2, 3], np.float32(1.5)], expected=lambda d, v: np.full((2, 3), v)),
    Case("ZerosLike", [X], expected=lambda x: np.zeros_like(x)),
    Case("OnesLike", [X], expected=lambda x: np.ones_like(x)),
    Case("OneHot", [np.array([[0, 2], [-1, 3]], np.int32), 3, np.float32(5), np.float32(-1)], sweep=False,
         expected=lambda i, d, on, off: np.where(i[..., None] == np.arange(3), on, off)),
    Case("OneHot", [np.array([[0, 2], [-1, 3]], np.int64), 3, np.float32(5), np.float32(-1)], {"axis": 1}, sweep=False,
         expected=lambda i, d, on, off: np.where(i[:, None] == np.arange(3)[:, None], on, off), variant="axis"),
    Case("OneHot", [np.int32(2), 3, np.float32(5), np.float32(-1)], sweep=False,
         expected=lambda i, d, on, off: np.float32([-1, -1, 5]), variant="of one"),
    Case("OneHot", [np.int64(-1), 3, np.float32(5), np.float32(-1)], sweep=False,
         expected=lambda i, d, on, off: np.float32([-1, -1, -1]), variant="of none"),
]  # fmt: skip

JOINED = [
    Case("ConcatV2", [[X, Y], 1], expected=lambda xs, a: np.concatenate(xs, 1)),
    Case("ConcatV2", [[X, Y[:1]], np.array(0, np.int64)], expected=lambda xs, a: np.concatenate(xs), variant="rows"),
    Case("Concat", [1, [X, Y]], expected=lambda a, xs: np.concatenate(xs, 1)),
    Case("ConcatOffset", [1, [[2, 3], [2, 5]]], expected=lambda a, s: ([0, 0], [0, 3])),
    Case("Pack", [[X, Y]], expected=np.stack),
    Case("Pack", [[X, Y]], {"axis": -1}, expected=lambda xs: np.stack(xs, -1), variant="last"),
    Case("Pack", [[np.float32(1), np.float32(2)]], expected=np.stack, variant="scalars"),
    Case("Unpack", [X], {"num": 2}, expected=lambda x: tuple(x)),
    Case("Unpack", [X], {"num": 3, "axis": -1}, expected=lambda x: tuple(x.T), variant="last"),
    Case("ParallelConcat", [[X[:1], Y[:1]]], {"shape": (2, 3)}, expected=np.concatenate, gradient=False, needs_shapes=True),
    Case("Split", [1, X], {"num_split": 3}, expected=lambda a, x: tuple(np.split(x, 3, 1))),
    Case("SplitV", [X, [1, -1], 1], {"num_split": 2}, expected=lambda x, s, a: tuple(np.split(x, [1], 1))),
]

_MASKS = {"begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 0}


def _sliced(variant, index, begin, end, strides, **masks):
    return [
        Case("StridedSlice", [CUBE, begin, end, strides], {**_MASKS, **masks}, variant=variant,
             expected=lambda x, *vectors: x[index]),
        Case("StridedSliceGrad", [[2, 3, 4], begin, end, strides, np.ones_like(CUBE[index])], {**_MASKS, **masks},
             variant=variant, expected=lambda *given: _put(index, given[-1])),
    ]  # fmt: skip


def _put(index, value):
    result = np.zeros((2, 3, 4), value.dtype)
    result[index] = value
    return result


SLICED = [
    *_sliced("range", np.s_[0:1, 1:3], [0, 1], [1, 3], [1, 1]),
    *_sliced("step", np.s_[:, ::2, ::-1], [0, 0, 0], [0, 0, 0], [1, 2, -1], begin_mask=7, end_mask=7),
    *_sliced("shrunk", np.s_[1, ..., -1], [1, 0, -1], [2, 0, 0], [1, 1, 1], ellipsis_mask=2, shrink_axis_mask=5),
    *_sliced("new", np.s_[None, ..., 1:2, None], [0, 0, 1, 0], [0, 0, 2, 0], [1, 1, 1, 1], new_axis_mask=9,
             ellipsis_mask=2),
    *_sliced("empty", np.s_[1:1], [1], [1], [1]),
    Case("Slice", [CUBE, [0, 1, 0], [-1, 2, 3]], expected=lambda x, b, s: x[:, 1:3, :3]),
    Case("SlicePaddings", [[5, 6], [1, 2], [3, 1]], expected=lambda s, b, z: np.array([[1, 1], [2, 3]]), sweep=False),
    Case("Pad", [X, [[1, 0], [2, 3]]], expected=lambda x, p: np.pad(x, p)),
    Case("Pad", [X[::-1], [[0, 0], [0, 2]]], expected=lambda x, p: np.pad(x, p), variant="of a view", sweep=False),
    Case("PadV2", [X, [[1, 0], [2, 3]], np.float32(7)], expected=lambda x, p, v: np.pad(x, p, constant_values=v)),
    Case("PadValueGrad", [X, X[:1]], expected=lambda a, b: a.sum() - b.sum()),
    Case("MirrorPad", [CUBE, [[0, 0], [2, 1], [1, 3]]], {"mode": "REFLECT"},
         expected=lambda x, p: np.pad(x, p, "reflect")),
    Case("MirrorPad", [CUBE, [[1, 2], [3, 1], [0, 0]]], {"mode": "SYMMETRIC"}, variant="symmetric",
         expected=lambda x, p: np.pad(x, p, "symmetric")),
    Case("MirrorPadGrad", [CUBE, [[0, 0], [1, 0], [0, 1]]], {"mode": "REFLECT"}),
    Case("MirrorPadGrad", [CUBE, [[0, 0], [1, 0], [1, 1]]], {"mode": "SYMMETRIC"}, variant="symmetric"),
]  # fmt: skip

TILED = [
    Case("Tile", [X, [2, 3]], expected=np.tile),
    Case("TiledSum", [np.tile(X, [2, 3]), [2, 3], Y], expected=lambda x, m, like: X * 6),
    Case("BroadcastTo", [X[:, :1], [4, 2, 3]], expected=lambda x, s: np.broadcast_to(x, (4, 2, 3))),
    Case("BroadcastArgs", [[2, 1], [3, 1, 5]], expected=lambda a, b: np.array([3, 2, 5]), sweep=False),
    Case("BroadcastGradientArgs", [[2, 1], [3, 2, 5]], expected=lambda a, b: ([0, 2], []), sweep=False, known_shape=False),
    Case("ReverseV2", [CUBE, [0, -1]], expected=lambda x, a: np.flip(x, (0, 2))),
    Case("ReverseV2", [CUBE, [-2]], expected=lambda x, a: np.flip(x, 1), variant="one"),
    Case("Roll", [CUBE, [1, -2], [1, 2]], expected=lambda x, s, a: np.roll(x, tuple(s), tuple(a))),
]

_PAIRS = np.array([[0, 2], [1, 0], [0, 2]], np.int32)


def _scattered(how):
    def scatter(x, i, u):
        result = x.copy()
        if how is None:
            result[tuple(i.T)] = u
        else:
            how.at(result, tuple(i.T), u)
        return result

    return scatter


_UPDATES = np.array([1.5, -2.5, 4.5], np.float32)
GATHERED = [
    Case("GatherV2", [X, IDS % 2, 0], expected=lambda x, i, a: x[i]),
    Case("GatherV2", [CUBE, np.array([[2, 0], [1, 1]]), 1], expected=lambda x, i, a: np.take(x, i, 1), variant="axis"),
    Case("GatherV2", [CUBE, np.array([[2, 0], [1, 1]]), 1], {"batch_dims": 1}, variant="batch",
         expected=lambda x, i, a: np.stack([x[b][i[b]] for b in range(2)])),
    Case("GatherV2", [CUBE, np.array([[2, 0], [1, 1]]), 2], {"batch_dims": 1}, variant="batch-axis",
         expected=lambda x, i, a: np.stack([x[b][:, i[b]] for b in range(2)])),
    Case("Gather", [X, IDS % 2], expected=lambda x, i: x[i]),
    Case("GatherNd", [CUBE, _PAIRS], expected=lambda x, i: x[tuple(i.T)]),
    Case("GatherNd", [X, np.array([[1], [0], [1]])], expected=lambda x, i: x[i[:, 0]], variant="rows"),
    Case("ScatterNd", [_PAIRS, _UPDATES, [2, 3]], expected=lambda i, u, s: _scattered(np.add)(np.zeros((2, 3)), i, u)),
    Case("TensorScatterUpdate", [X, _PAIRS[:2], _UPDATES[:2]], expected=_scattered(None)),
    Case("TensorScatterAdd", [X, _PAIRS, _UPDATES], expected=_scattered(np.add)),
    Case("TensorScatterSub", [X, _PAIRS, _UPDATES], expected=_scattered(np.subtract)),
    Case("TensorScatterMax", [X, _PAIRS, _UPDATES], expected=_scattered(np.maximum)),
    Case("TensorScatterMin", [X, _PAIRS, _UPDATES], expected=_scattered(np.minimum)),
]  # fmt: skip

_CONDITION = np.array([[True, False, True], [False, False, True]])
SELECTED = [
    Case("Where", [_CONDITION], expected=np.argwhere),
    Case("Where", [_CONDITION[0]], expected=np.argwhere, variant="vector"),
    Case("Select", [_CONDITION, X, Y], expected=np.where),
    Case("Select", [_CONDITION[:, 0], X, Y], expected=lambda c, x, y: np.where(c[:, None], x, y), variant="rows"),
    Case("Select", [np.bool_(True), X, Y], expected=np.where, variant="scalar"),
    Case("SelectV2", [_CONDITION, X[:1], Y], expected=np.where),
    Case("SelectV2", [np.bool_(True), X, Y], expected=np.where, variant="whole"),
    Case("SelectV2", [np.bool_(False), X, Y], expected=np.where, variant="other"),
    Case("DynamicPartition", [CUBE[0], np.array([1, 0, 1], np.int32)], {"num_partitions": 3},
         expected=lambda x, p: (x[[1]], x[[0, 2]], x[:0])),
    Case("DynamicPartitionGrad", [X, np.array([1, 0], np.int32), [X[1:], X[:1]]], expected=lambda x, p, g: X),
    Case("DynamicStitch", [[[0, 3], [1, 3]], [X, Y]],
         expected=lambda i, x: np.stack([X[0], Y[0], np.zeros(3), Y[1]]), gradient=False),
    Case("DynamicStitch", [[[0, 2], [1, 3]], [X, Y]], variant="whole",
         expected=lambda i, x: np.stack([X[0], Y[0], X[1], Y[1]])),
    Case("ParallelDynamicStitch", [[[0, 2], [1, 3]], [X, Y]],
         expected=lambda i, x: np.stack([X[0], Y[0], X[1], Y[1]])),
]  # fmt: skip


def _deepened(x, b=2):
    n, h, w, c = x.shape
    return x.reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h // b, w // b, b * b * c)


def _dealt(x, block, paddings):
    x = np.pad(x, [(0, 0), *paddings, (0, 0)])
    return np.concatenate([x[:, i :: block[0], j :: block[1]] for i in range(block[0]) for j in range(block[1])])


BLOCKS = [
    Case("SpaceToDepth", [IMAGES], {"block_size": 2}, expected=_deepened),
    Case("SpaceToDepth", [IMAGES.transpose(0, 3, 1, 2)], {"block_size": 2, "data_format": "NCHW"}, variant="channels",
         expected=lambda x: _deepened(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)),
    Case("DepthToSpace", [_deepened(IMAGES)], {"block_size": 2}, expected=lambda x: IMAGES),
    Case("DepthToSpace", [_deepened(IMAGES).transpose(0, 3, 1, 2)], {"block_size": 2, "data_format": "NCHW"},
         variant="channels", expected=lambda x: IMAGES.transpose(0, 3, 1, 2)),
    Case("SpaceToBatchND", [IMAGES, [3, 2], [[1, 1], [0, 0]]], expected=lambda x, b, p: _dealt(x, b, p),
         needs_shapes=True),
    Case("BatchToSpaceND", [_dealt(IMAGES, [3, 2], [[1, 1], [0, 0]]), [3, 2], [[1, 1], [0, 0]]],
         expected=lambda x, b, c: IMAGES, needs_shapes=True),
    Case("ExtractImagePatches", [IMAGES[:1, :, :, :1]], {"ksizes": [1, 2, 3, 1], "strides": [1, 2, 1, 1],
                                                        "rates": [1, 1, 2, 1], "padding": "SAME"}),
    Case("ExtractImagePatches", [IMAGES], {"ksizes": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "rates": [1, 1, 1, 1],
                                           "padding": "VALID"}, variant="blocks", expected=_deepened, gradient=False),
]  # fmt: skip

SETS = [
    Case("Unique", [IDS], expected=lambda x: ([3, 1, 0], [0, 1, 0, 2, 1])),
    Case("Unique", [LETTERS], expected=lambda x: (x[:2], [0, 1, 0]), variant="strings"),
    Case("UniqueWithCounts", [IDS], expected=lambda x: ([3, 1, 0], [0, 1, 0, 2, 1], [2, 2, 1])),
    Case(
        "GatherTree",
        [
            np.array([[[1, 2]], [[3, 4]], [[5, 0]]], np.int32),
            np.array([[[0, 0]], [[1, 0]], [[1, 1]]], np.int32),
            np.array([3], np.int32),
            np.int32(0),
        ],
        expected=lambda *parts: [[[1, 1]], [[4, 4]], [[5, 0]]],
    ),
    Case("ListDiff", [IDS, np.array([1], np.int32)], expected=lambda x, y: ([3, 3, 0], [0, 2, 3])),
]

SEQUENCES = [
    Case("ReverseSequence", [CUBE, np.array([3, 1, 4])], {"seq_dim": 2, "batch_dim": 1},
         expected=lambda x, n: np.stack([np.concatenate([x[:, b, : n[b]][:, ::-1], x[:, b, n[b] :]], 1)
                                         for b in range(3)], 1)),
    Case("LowerBound", [np.sort(X), Y], expected=lambda s, v: np.stack(list(map(np.searchsorted, s, v)))),
    Case("UpperBound", [np.sort(X), Y],
         expected=lambda s, v: np.stack([np.searchsorted(a, b, "right") for a, b in zip(s, v, strict=True)])),
    Case("UnravelIndex", [np.array([2, 5, 7], np.int32), [3, 3]],
         expected=lambda i, d: np.stack(np.unravel_index(i, (3, 3))),
         sweep=False),
    Case("EditDistance", [np.array([[0, 0], [0, 1]]), _texts("a", "c"), np.array([2, 2]),
                          np.array([[0, 0], [0, 1], [1, 0]]), _texts("a", "b", "c"), np.array([2, 2])],
         expected=lambda *given: np.array([0.5, 1.0])),
]  # fmt: skip

STRINGS = [
    Case("AsString", [X[0]], {"precision": 2}, expected=lambda x: _texts("0.50", "-1.25", "2.00"), sweep=False),
    Case("StringToNumber", [_texts("1.5", " -2e3 ")], expected=lambda t: np.array([1.5, -2000])),
    Case("DecodeRaw", [_texts("ab", "cd")], {"out_type": dtypes.uint8},
         expected=lambda t: np.array([[97, 98], [99, 100]])),
    Case("StringLower", [_texts("AbC")], expected=lambda t: _texts("abc")),
    Case("StringUpper", [_texts("AbC")], expected=lambda t: _texts("ABC")),
    Case("StringStrip", [_texts(" a b\t")], expected=lambda t: _texts("a b")),
    Case("StringLength", [_texts("é", "")], expected=lambda t: np.array([2, 0])),
    Case("StringLength", [_texts("é", "")], {"unit": "UTF8_CHAR"},
         expected=lambda t: np.array([1, 0]), variant="characters"),
    Case("Substr", [_texts("hello", "world"), [1, -2], [3, 5]], expected=lambda *given: _texts("ell", "ld")),
    Case("RegexReplace", [_texts("hello"), np.array(b"(l+)", object), np.array(rb"<\1>", object)],
         expected=lambda *given: _texts("he<ll>o")),
    Case("StaticRegexReplace", [_texts("hello")], {"pattern": "l", "rewrite": r"\0\0", "replace_global": False},
         expected=lambda t: _texts("helllo")),
    Case("RegexFullMatch", [_texts("abc", "abcd"), np.array(b"a.c", object)],
         expected=lambda *given: np.array([True, False])),
    Case("StaticRegexFullMatch", [_texts("abc", "abcd")], {"pattern": "a.c"},
         expected=lambda t: np.array([True, False])),
    Case("EncodeBase64", [_texts("hello??>")], expected=lambda t: _texts("aGVsbG8_Pz4")),
    Case("DecodeBase64", [_texts("aGVsbG8_Pz4")], expected=lambda t: _texts("hello??>")),
    Case("StringToHashBucketFast", [_texts("", "a")], {"num_buckets": 1 << 62},
         expected=lambda t: np.array([0x9AE16A3B2F90404F, 0xB3454265B6DF75E3]) % (1 << 62)),
    Case("SdcaFprint", [_texts("a", "abc")], expected=lambda _: np.array([
        [7969074168056553668, 5955762262185338209], [4143508125394299908, -6879828354153669051]])),
    Case("StringToHashBucketStrong", [_texts("", "a")], {"num_buckets": 100, "key": [1, 2]}),
    Case("StringToHashBucket", [_texts("", "a")], {"num_buckets": 100}),
    Case("StringSplit", [_texts("a  b"), np.array(b" ", object)], variant="of one",
         expected=lambda x, d: (np.array([[0, 0], [0, 1]]), _texts("a", "b"), np.array([1, 2]))),
    Case("StringSplit", [_texts("a,b;", "c"), np.array(b",;", object)],
         expected=lambda *given: ([[0, 0], [0, 1], [1, 0]], _texts("a", "b", "c"), [2, 2])),
    Case("StringSplitV2", [_texts(" a  b", "c"), np.array(b"", object)],
         expected=lambda *given: ([[0, 0], [0, 1], [1, 0]], _texts("a", "b", "c"), [2, 2])),
    Case("StringJoin", [[_texts("a", "b"), np.array(b"x", object)]], {"separator": "-"},
         expected=lambda ts: _texts("a-x", "b-x")),
    Case("ReduceJoin", [_as_objects([b"a", b"b", b"c", b"d"], (2, 2)), [0, 1]],
         expected=lambda *given: np.array(b"acbd", object)),
    Case("StringFormat", [[IDS]], {"template": "ids {}", "placeholder": "{}", "summarize": 1},
         expected=lambda xs: np.array(b"ids [3 ... 1]", object)),
]  # fmt: skip

CASES = [
    *PASSING, *SHAPES, *FILLED, *JOINED, *SLICED, *TILED, *GATHERED, *SELECTED, *BLOCKS, *SETS, *SEQUENCES, *STRINGS,
]  # fmt: skip

WITHOUT_CASE = {
    "NoOp": "computes nothing",
    "Placeholder": "raises unless it is fed",
    "PlaceholderV2": "raises unless it is fed",
    "PyFuncStateless": "needs a function of this process; see test_script",
}

OWN_OPS = {
    "ReversedAxes": "the permutation of a transposition when the rank is not known",
    "MatrixTranspose": "the transposition of matrices when the rank is not known",
    "SlicePaddings": "the gradient of Slice when the shapes are not known",
    "PadValueGrad": "the gradient of PadV2 for its value",
    "TiledSum": "the gradient of Tile",
    "DynamicPartitionGrad": "the gradient of DynamicPartition",
    "SparseReorderGrad": "the gradient of SparseReorder",
    "SparseConcatGrad": "the gradient of SparseConcat",
    "SparseWidenShapes": "sparse_concat of tensors whose other sizes differ",
    "SparseTightShape": "sparse_reset_shape without a shape",
    "SparseCheckShape": "sparse_reset_shape with a shape",
    "SparseReduceSumGrad": "the gradient of SparseReduceSum",
    "SparseSoftmaxGrad": "the gradient of SparseSoftmax",
}
