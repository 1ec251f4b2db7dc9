"""tf.estimator.experimental: what may still change. This module only re-exports."""

from __future__ import annotations

from weft.estimator.export.input_receiver import (
    build_raw_supervised_input_receiver_fn as build_raw_supervised_input_receiver_fn,
)
