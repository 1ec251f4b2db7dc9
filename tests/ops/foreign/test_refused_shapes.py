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


def test_numbers_are_counted_of_some() -> None:
    values = tf.placeholder(tf.int32)
    made = tf.raw_ops.DenseCountSparseOutput(values=values, weights=tf.zeros([0]), binary_output=False)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="Shapes dimension cannot be 0"):
        session.run(made, {values: np.zeros((0, 3))})


@pytest.mark.parametrize(("shape", "counted"), [([2, 0], [2, 1]), ([0], [1])])
def test_rows_without_numbers_have_no_counts(shape: list[int], counted: list[int]) -> None:
    made = tf.raw_ops.DenseCountSparseOutput(values=np.zeros(shape, np.int32), weights=tf.zeros([0]), binary_output=False)
    with tf.Session() as session:
        assert [each.tolist() for each in session.run(list(made))] == [[], [], counted]


@pytest.mark.parametrize("length", [3, 0])
def test_padded_bytes_are_whole_numbers(length: int) -> None:
    texts = tf.placeholder(tf.string)
    made = tf.raw_ops.DecodePaddedRaw(
        input_bytes=texts, fixed_length=tf.placeholder_with_default(length, []), out_type=tf.int16
    )
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="a multiple of the size of out_type"):
        session.run(made, {texts: np.zeros(0, object)})


def test_the_gradient_of_a_singular_factor_is_no_error() -> None:
    factor, grad = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    back = tf.raw_ops.CholeskyGrad(l=factor, grad=grad)
    with tf.Session() as session:
        assert not np.isfinite(session.run(back, {factor: [[0.0, 0.0], [1.0, 2.0]], grad: np.ones((2, 2))})).all()
        found = session.run(back, {factor: [[2.0, 0.0], [1.0, 4.0]], grad: np.tri(2)})
    np.testing.assert_allclose(found, [[0.15625, 0.1875], [0.1875, 0.125]], rtol=1e-6)


def test_statistics_of_all_features_are_of_as_many_nodes_and_buckets() -> None:
    with pytest.raises(ValueError, match="must be equal, but are"):
        tf.raw_ops.BoostedTreesCalculateBestGainsPerFeature(
            node_id_range=[0, 2], stats_summary_list=[np.ones((2, 3, 2)), np.ones((2, 4, 2))], l1=0.0, l2=0.0,
            tree_complexity=0.0, min_node_weight=0.0, max_splits=2,
        )  # fmt: skip


def test_each_example_has_a_gradient_and_a_hessian() -> None:
    with pytest.raises(ValueError, match=r"Dimension 0 in both shapes must be equal, but are 4 and 8. Shapes are \[4,1\] and"):
        tf.raw_ops.BoostedTreesMakeStatsSummary(
            node_ids=np.zeros(4, np.int32), gradients=tf.zeros([4, 1]), hessians=tf.zeros([8, 1]),
            bucketized_features_list=[np.zeros(4, np.int32)], max_splits=2, num_buckets=3,
        )  # fmt: skip
