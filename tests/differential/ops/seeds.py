"""Seeds of ops that the tables under `tests/ops` do not have."""

from __future__ import annotations

import struct

import numpy as np

from tests.differential.ops.case import OpCase
from weft.framework.types import dtypes


def _wav(samples: bytes) -> bytes:
    """A WAV file of stereo samples of 16 bits."""
    form = struct.pack("<HHIIHH", 1, 2, 8000, 32000, 4, 16)
    body = b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


_IDS = np.array([[0, 3, 5], [1, 2, 2]], np.int64)
_SHAPE = np.array([2, 3], np.int32)
_F32 = dtypes.float32
_SEEDS = {"seed": 7, "seed2": 11}


def _sampler(op: str, count: int, unique: bool, **attrs: object) -> OpCase:
    given = {"num_true": 3, "num_sampled": count, "unique": unique, "range_max": 20, **_SEEDS, **attrs}
    return OpCase(op, [_IDS], given)


_SAMPLERS = [
    *(_sampler(op, count, unique) for op in ("LogUniformCandidateSampler", "UniformCandidateSampler")
      for count, unique in ((5, True), (5, False), (20, True), (64, False))),
    _sampler("AllCandidateSampler", 20, True),
    *(_sampler("FixedUnigramCandidateSampler", 5, unique, unigrams=[float(i + 1) for i in range(20)], distortion=distortion)
      for unique in (True, False) for distortion in (1.0, 0.75)),
]  # fmt: skip
for _case in _SAMPLERS:
    if _case.op == "AllCandidateSampler":
        _case.attrs.pop("range_max")  # type: ignore[attr-defined]

_RANDOM = [
    OpCase("RandomUniform", [_SHAPE], {"dtype": _F32, **_SEEDS}),
    OpCase("RandomStandardNormal", [_SHAPE], {"dtype": _F32, **_SEEDS}),
    OpCase("TruncatedNormal", [_SHAPE], {"dtype": _F32, **_SEEDS}),
    OpCase("RandomUniformInt", [_SHAPE, np.int32(-3), np.int32(12)], _SEEDS),
    OpCase("RandomShuffle", [np.arange(12, dtype=np.float32).reshape(6, 2)], _SEEDS),
    OpCase("RandomGamma", [_SHAPE, np.array([0.5, 2.0], np.float32)], _SEEDS),
    OpCase("RandomPoissonV2", [_SHAPE, np.array([0.5, 20.0], np.float32)], {"dtype": _F32, **_SEEDS}),
    OpCase("Multinomial", [np.log(np.array([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]], np.float32)), np.int32(9)], _SEEDS),
    OpCase("StatelessRandomGetAlg", []),
]

_STATEFUL = [
    OpCase("CheckNumerics", [np.array([1.0, -2.0], np.float32)], {"message": "checked"}),
    OpCase("CheckNumerics", [np.array([1.0, np.nan], np.float32)], {"message": "checked"}),
    OpCase("CheckNumerics", [np.array([1.0, np.inf], np.float32)], {"message": "checked"}),
    OpCase("CheckNumericsV2", [np.array([1.0, -2.0], np.float32)], {"message": "checked"}),
    OpCase("CheckNumericsV2", [np.array([1.0, np.nan], np.float32)], {"message": "checked"}),
    OpCase("Assert", [np.array(True), [np.array([1, 2], np.int32)]]),
    OpCase("Assert", [np.array(False), [np.array([1, 2], np.int32), np.array(b"why", object)]]),
    OpCase("Empty", [_SHAPE], {"dtype": _F32, "init": True}),
    OpCase("DeepCopy", [np.array([1.0, -2.0], np.float32)]),
    OpCase("GuaranteeConst", [np.array([1.0, -2.0], np.float32)]),
    OpCase("Print", [np.array([1.0, -2.0], np.float32), [np.array([1], np.int32)]], {"message": "", "first_n": 0}),
    OpCase("PrintV2", [np.array(b"", object)], {"output_stream": "stderr"}),
    OpCase("Timestamp", []),
    OpCase("NoOp", []),
    OpCase("ControlTrigger", []),
]  # fmt: skip

_TEXTS = np.array([b"1,2.5,x", b",3,y z"], object)
_RECORDS = [
    OpCase("DecodeCSV", [_TEXTS, [np.array([7], np.int32), np.array([], np.float32), np.array([b""], object)]]),
    OpCase("DecodeCSV", [np.array([b"1;2"], object), [np.array([], np.int32), np.array([], np.int64)]], {"field_delim": ";"}),
    OpCase("ScalarSummary", [np.array(b"name", object), np.array(2.5, np.float32)]),
    OpCase("ScalarSummary", [np.array([b"a", b"b"], object), np.array([2.5, -1.0], np.float32)]),
    OpCase("HistogramSummary", [np.array(b"name", object), np.array([0.5, -2.0, 0.0, 7.0], np.float32)]),
    OpCase("MergeSummary", [[np.array(b"", object), np.array(b"", object)]]),
    OpCase("ReadFile", [np.array(b"/nowhere/to/be/found", object)]),
    OpCase("MatchingFiles", [np.array(b"/nowhere/to/be/*", object)]),
]

_WAVES = np.array([[0.0, 0.25], [0.5, -1.0], [1.0, 0.125]], np.float32)
_TONE = np.sin(np.arange(400, dtype=np.float32) * np.float32(0.3))[:, None]
_SOUNDS = [
    OpCase("EncodeWav", [_WAVES, np.int32(16000)]),
    OpCase("DecodeWav", [np.array(_wav(b"\0\1\2\3\4\5\6\7"), object)]),
    OpCase("DecodeWav", [np.array(_wav(b"\0\1\2\3"), object)], {"desired_channels": 3, "desired_samples": 2}),
    OpCase("DecodeWav", [np.array(b"RIFF", object)]),
    OpCase("AudioSpectrogram", [_TONE], {"window_size": 100, "stride": 50}),
    OpCase("AudioSpectrogram", [_TONE], {"window_size": 128, "stride": 60, "magnitude_squared": True}),
    OpCase("Mfcc", [np.abs(np.sin(np.arange(195, dtype=np.float32))).reshape(1, 3, 65), np.int32(16000)]),
]

SEEDS = [*_SAMPLERS, *_RANDOM, *_STATEFUL, *_RECORDS, *_SOUNDS]
