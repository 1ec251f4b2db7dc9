"""Cases of the ops on checkpoints and files."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from weft.testing.op_checks import Case


def _text(value: bytes) -> Any:
    boxed = np.empty((), np.object_)
    boxed[()] = value
    return boxed


CASES: Final = [
    Case(
        "ShardedFilename",
        [_text(b"dir/m"), np.int32(2), np.int32(12)],
        expected=lambda base, shard, count: _text(b"dir/m-00002-of-00012"),
    ),
    Case(
        "ShardedFilespec",
        [_text(b"dir/m"), np.int32(12)],
        expected=lambda base, count: _text(b"dir/m-?????-of-00012"),
    ),
]

WITHOUT_CASE: Final = {
    "ReadFile": "needs a file; see test_file_io",
    "MatchingFiles": "needs files; see test_file_io",
    # Files of formats that Pillow knows.
    "DecodePng": "test_image_codecs",
    "DecodeJpeg": "test_image_codecs",
    "DecodeBmp": "test_image_codecs",
    "DecodeGif": "test_image_codecs",
    "DecodeImage": "test_image_codecs",
    "EncodePng": "test_image_codecs",
    "EncodeJpeg": "test_image_codecs",
    "ExtractJpegShape": "test_image_codecs",
    # The result of these is a serialized message or a set of columns, not an array to compare.
    "ScalarSummary": "test_summary_ops",
    "HistogramSummary": "test_summary_ops",
    "ImageSummary": "test_summary_ops",
    "AudioSummaryV2": "test_summary_ops",
    "TensorSummaryV2": "test_summary_ops",
    "MergeSummary": "test_summary_ops",
    "DecodeWav": "signal/test_audio",
    "EncodeWav": "signal/test_audio",
    "AudioSpectrogram": "signal/test_audio",
    "Mfcc": "signal/test_audio",
    "DecodeCSV": "test_csv_records",
    "ParseExample": "test_parse_example",
    "ParseExampleV2": "test_parse_example_v2",
    "ParseSequenceExample": "test_parse_sequences",
    "ParseSequenceExampleV2": "test_parse_sequences",
    "ParseSingleExample": "test_parse_example",
}

OWN_OPS: Final = {
    "_SendControl": "the news for another task that a node ran; TensorFlow sends an empty tensor",
    "QueueReopen": "lets a queue that was closed be used again by a restarted job",
}
