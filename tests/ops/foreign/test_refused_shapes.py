"""What ops of other programs refuse."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


@pytest.mark.parametrize("use_peephole", [False, True])
@pytest.mark.parametrize("version", [tf.raw_ops.BlockLSTM, tf.raw_ops.BlockLSTMV2])
def test_peepholes_have_a_number_for_each_cell(version: object, use_peephole: bool) -> None:
    inputs = {
        "x": np.ones((2, 2, 4)), "cs_prev": np.ones((2, 3)), "h_prev": np.ones((2, 3)), "w": np.ones((7, 12)),
        "wci": np.ones(3), "wcf": np.ones(3), "wco": np.ones(6), "b": np.ones(12),
    }  # fmt: skip
    fed = {name: tf.placeholder(tf.float32) for name in inputs}
    made = version(seq_len_max=2, use_peephole=use_peephole, cell_clip=3.0, **fed)  # type: ignore[operator]
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=r"wco.*6 vs\. 3"):
        session.run(made, {fed[name]: value for name, value in inputs.items()})


@pytest.mark.parametrize(("size", "width", "stride", "fits"), [(2, 3, 1, True), (1, 3, 1, False), (0, 3, 2, True)])
def test_volumes_are_no_more_than_a_stride_smaller_than_a_patch(size: int, width: int, stride: int, fits: bool) -> None:
    volumes = np.ones((1, size, 4, 4, 1), np.float32)
    sizes = {"ksizes": [1, width, 1, 1, 1], "strides": [1, stride, 1, 1, 1], "padding": "VALID"}
    if fits:
        assert tf.raw_ops.ExtractVolumePatches(input=volumes, **sizes).shape[1] == 0
    else:
        with pytest.raises(ValueError, match="would be negative"):
            tf.raw_ops.ExtractVolumePatches(input=volumes, **sizes)
