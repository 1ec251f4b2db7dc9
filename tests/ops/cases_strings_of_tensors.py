"""Cases of tensors as strings, packed strings, fingerprints, sparse maxima."""

from __future__ import annotations

import gzip

import numpy as np
from tensorboard.compat.proto import tensor_pb2

from weft.framework.types import dtypes
from weft.framework.types.tensor_util import make_tensor_proto
from weft.proto import example_pb2
from weft.testing.op_checks import Case

X = np.array([[1.5, -2.0], [0.25, 3.0]], np.float32)
TEXT = make_tensor_proto(X).SerializeToString()
EXAMPLE = example_pb2.Example()
EXAMPLE.features.feature["a"].int64_list.value.append(7)
JSON = b'{"features": {"feature": {"a": {"int64List": {"value": ["7"]}}}}}'


def _texts(*items):
    array = np.empty(len(items), object)
    array[:] = items
    return array


assert tensor_pb2.TensorProto.FromString(TEXT).tensor_shape.dim[0].size == 2

CASES = [
    Case("SerializeTensor", [X], expected=lambda x: np.array(TEXT, object), sweep=False),
    Case("ParseTensor", [np.array(TEXT, object)], {"out_type": dtypes.float32}, expected=lambda t: X, sweep=False),
    Case("DecodeCompressed", [_texts(gzip.compress(b"abc"))], {"compression_type": "GZIP"}, expected=lambda t: _texts(b"abc")),
    Case("DecodeJSONExample", [_texts(JSON)], expected=lambda t: _texts(EXAMPLE.SerializeToString())),
    # The fingerprint of b"abc" by FarmHash's own tests of its 64-bit form.
    Case("Fingerprint", [_texts(b"abc"), np.array(b"farmhash64", object)], sweep=False,
         expected=lambda data, method: np.frombuffer((0x24A5B3A074E7F369).to_bytes(8, "little"), np.uint8)[None]),
    Case("UnsortedSegmentJoin", [_texts(b"a", b"b", b"c"), np.array([0, 1, 0], np.int32), np.int32(3)], {"separator": ","},
         expected=lambda texts, ids, count: _texts(b"a,c", b"b", b""), sweep=False),
    Case("UnicodeTranscode", [_texts("é".encode(), b"\xff")], {"input_encoding": "UTF-8", "output_encoding": "UTF-16-BE"},
         expected=lambda texts: _texts("é".encode("utf-16-be"), "\ufffd".encode("utf-16-be"))),
    Case("UnicodeDecode", [_texts("aé".encode(), b"", b"b\xff")], {"input_encoding": "UTF-8"}, sweep=False,
         expected=lambda texts: ([0, 2, 2, 4], [97, 233, 98, 0xFFFD])),
    Case("UnicodeDecodeWithOffsets", [_texts("éa".encode(), b"b")], {"input_encoding": "UTF-8"}, sweep=False,
         expected=lambda texts: ([0, 2, 3], [233, 97, 98], [0, 2, 0])),
    Case("UnicodeEncode", [np.array([97, 233, 98], np.int32), np.array([0, 2, 2, 3], np.int64)], {"output_encoding": "UTF-8"},
         expected=lambda points, splits: _texts("aé".encode(), b"", b"b"), sweep=False),
    Case("StringNGrams", [_texts(b"a", b"b", b"c"), np.array([0, 2, 3], np.int64)],
         {"separator": "-", "ngram_widths": [2], "left_pad": "", "right_pad": "", "pad_width": 0,
          "preserve_short_sequences": True}, sweep=False,
         expected=lambda data, splits: (_texts(b"a-b", b"c"), [0, 1, 2])),
    Case("SparseReduceMaxSparse", [np.array([[0, 1], [1, 0], [1, 2]], np.int64), np.array([1, 5, 3], np.float32),
                                   np.array([2, 3], np.int64), np.array([1], np.int32)], sweep=False,
         expected=lambda i, v, s, a: ([[0], [1]], [1, 5], [2])),
]  # fmt: skip
_SPARSE = "its inputs are parts of sparse tensors in lists; the differential programs of feature columns have it"

WITHOUT_CASE = {
    "ParseSingleSequenceExample": "its inputs are lists of keys; the differential programs have it",
    "SparseCross": _SPARSE,
    "SparseFeatureCross": _SPARSE,
    "DeserializeSparse": "takes what datasets make of sparse elements; the differential programs of data have it",
}
