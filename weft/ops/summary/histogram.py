"""Histograms as TensorBoard stores them: counts in buckets that grow by a tenth each, as TensorFlow makes them."""

from __future__ import annotations

import sys
from typing import Final

import numpy as np
from tensorboard.compat.proto import summary_pb2

from weft.framework.building.aliases import TensorLike


def _bucket_limits() -> np.ndarray:
    limits, limit = [], 1e-12
    while limit < 1e20:
        limits.append(limit)
        limit *= 1.1
    limits.append(sys.float_info.max)
    return np.array([-each for each in reversed(limits)] + [0.0] + limits)


_LIMITS: Final = _bucket_limits()


def histogram_of(values: TensorLike) -> summary_pb2.HistogramProto:
    """The HistogramProto of finite numbers."""
    flat = np.asarray(values, np.float64).ravel()
    proto = summary_pb2.HistogramProto(num=flat.size, sum=float(flat.sum()), sum_squares=float(np.dot(flat, flat)))
    if flat.size:
        proto.min, proto.max = float(flat.min()), float(flat.max())
    else:
        proto.min, proto.max = sys.float_info.max, -sys.float_info.max
    counts = np.bincount(np.searchsorted(_LIMITS, flat, side="right"), minlength=len(_LIMITS))[: len(_LIMITS)]
    # A run of empty buckets is written as one, which ends where the run ends.
    is_last_of_run = np.append((counts[:-1] > 0) | (counts[1:] > 0), True)
    proto.bucket_limit.extend(_LIMITS[is_last_of_run].tolist())
    proto.bucket.extend(counts[is_last_of_run].astype(np.float64).tolist())
    return proto
