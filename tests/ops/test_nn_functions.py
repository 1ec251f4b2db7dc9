"""The functions of tf.nn: their names in graphs, their errors, and what cases of single ops don't show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.errors import InvalidArgumentError


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as made:
        yield made


def _run(*fetches: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches if len(fetches) > 1 else fetches[0])


def test_functions_name_their_results_as_programs_expect() -> None:
    x = tf.placeholder(tf.float32, [None, 4])
    labels = tf.placeholder(tf.int64, [None])
    found = [
        tf.nn.softmax_cross_entropy_with_logits(labels=x, logits=x),
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x),
        tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=x),
        tf.nn.dropout(x, keep_prob=0.5), tf.nn.in_top_k(x, labels, 1), tf.nn.zero_fraction(x), tf.nn.softmax(x),
    ]  # fmt: skip
    assert [tensor.name for tensor in found] == [
        "softmax_cross_entropy_with_logits_sg/Reshape_2:0",
        "SparseSoftmaxCrossEntropyWithLogits/SparseSoftmaxCrossEntropyWithLogits:0", "logistic_loss:0", "dropout/mul_1:0",
        "in_top_k/InTopKV2:0", "zero_fraction/fraction:0", "Softmax:0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "function",
    ["softmax_cross_entropy_with_logits", "sparse_softmax_cross_entropy_with_logits", "sigmoid_cross_entropy_with_logits"],
)
def test_cross_entropies_want_their_arguments_by_name(function: str) -> None:
    with pytest.raises(ValueError, match=rf"Only call `{function}` with named arguments \(labels=..., logits=..., ...\)"):
        getattr(tf.nn, function)([1.0], [1.0])
    with pytest.raises(ValueError, match="Both labels and logits must be provided"):
        getattr(tf.nn, function)(labels=[1.0])


def test_sparse_labels_must_have_one_dimension_less_than_logits() -> None:
    logits = tf.zeros([2, 3])
    with pytest.raises(ValueError, match=r"Rank mismatch: Rank of labels \(received 2\) should equal rank of logits minus 1"):
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[0, 1]], logits=logits)
    with pytest.raises(ValueError, match="Shape mismatch: The shape of labels"):
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1, 2], logits=logits)


def test_a_label_that_is_no_class_is_an_error() -> None:
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 3], logits=tf.zeros([2, 3]))
    with pytest.raises(InvalidArgumentError, match=r"label value of 3 which is outside the valid range of \[0, 3\)"):
        _run(loss)


def test_no_gradient_goes_to_the_labels_of_the_first_version() -> None:
    labels, logits = tf.constant([[0.5, 0.5]]), tf.constant([[1.0, 2.0]])
    first = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    second = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    assert tf.gradients(first, labels) == [None]
    assert tf.gradients(second, labels)[0] is not None


@pytest.mark.parametrize("sizes", [[3, 4], [None, 4], None])
def test_the_gradient_of_a_cross_entropy_computes_no_softmax_anew(sizes: list[int | None] | None) -> None:
    with tf.Graph().as_default() as graph:
        logits = tf.placeholder(tf.float32, sizes)
        known = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.zeros([3], tf.int32), logits=logits)
        spread = tf.nn.softmax_cross_entropy_with_logits(labels=tf.ones([3, 4]), logits=logits)
        tf.gradients([known, spread], logits)
        assert "Softmax" not in {op.type for op in graph.get_operations()}


def test_softmax_takes_any_axis_and_refuses_others() -> None:
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
    made = _run(tf.nn.softmax(x, axis=1))
    assert made.sum(1) == pytest.approx(np.ones((2, 4)), abs=1e-6)
    with pytest.raises(InvalidArgumentError, match=r"Dimension \(3\) must be in the range \[-3, 3\)"):
        tf.nn.softmax(x, axis=3)


def test_dropout_keeps_the_mean_and_scales_what_it_keeps() -> None:
    made = _run(tf.nn.dropout(tf.ones([200, 200]), rate=0.25, seed=1))
    assert set(np.unique(made)) == {np.float32(0), np.float32(1 / 0.75)}
    assert made.mean() == pytest.approx(1, abs=0.02)
    x = tf.ones([2])
    assert tf.nn.dropout(x, keep_prob=1.0) is x
    with pytest.raises(ValueError, match=r"rate must be a scalar tensor or a float in the range \[0, 1\), got 1.5"):
        tf.nn.dropout(x, rate=1.5)
    with pytest.raises(ValueError, match="You must provide a rate to dropout"):
        tf.nn.dropout(x)


def test_top_k_names_its_parts() -> None:
    found = tf.nn.top_k([[1.0, 3.0, 2.0]], 2)
    values, indices = _run(found.values, found.indices)
    assert (values.tolist(), indices.tolist()) == ([[3.0, 2.0]], [[1, 2]])


def test_convolutions_of_all_kinds_have_the_shapes_that_run() -> None:
    x = np.random.default_rng(0).normal(size=(2, 8, 8, 4)).astype(np.float32)
    filters = np.random.default_rng(1).normal(size=(3, 3, 4, 6)).astype(np.float32)
    made = [
        tf.nn.conv2d(x, filters, 2, "SAME"),
        tf.nn.conv2d(x, filters, [1, 1, 1, 1], [[0, 0], [1, 1], [2, 0], [0, 0]]),
        tf.nn.atrous_conv2d(x, filters, 2, "VALID"),
        tf.nn.convolution(x, filters, "SAME", strides=[2, 2]),
        tf.nn.conv2d_transpose(tf.nn.conv2d(x, filters, 2, "SAME"), filters, [2, 8, 8, 4], 2),
        tf.nn.separable_conv2d(x, filters[..., :2], np.ones((1, 1, 8, 5), np.float32), [1, 1, 1, 1], "SAME"),
        tf.nn.conv1d(x[:, 0], filters[0], 2, "SAME"),
        tf.nn.max_pool(x, 2, 2, "SAME"), tf.nn.avg_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "VALID"),
        tf.nn.pool(x, [2, 2], "MAX", "VALID", strides=[2, 2]),
    ]  # fmt: skip
    assert [list(value.shape) for value in _run(*made)] == [tensor.shape.as_list() for tensor in made]


def test_a_dilated_convolution_is_one_with_zeros_between_the_filters_elements() -> None:
    x = np.random.default_rng(0).normal(size=(1, 9, 9, 2)).astype(np.float32)
    filters = np.random.default_rng(1).normal(size=(3, 3, 2, 3)).astype(np.float32)
    spread = np.zeros((5, 5, 2, 3), np.float32)
    spread[::2, ::2] = filters
    dilated, plain = _run(tf.nn.atrous_conv2d(x, filters, 2, "SAME"), tf.nn.conv2d(x, spread, 1, "SAME"))
    assert np.allclose(dilated, plain, atol=1e-4)


def test_windows_that_do_not_fit_are_errors_while_building() -> None:
    x = tf.zeros([1, 4, 4, 3])
    with pytest.raises(ValueError, match="Negative dimension size caused by subtracting 5 from 4"):
        tf.nn.conv2d(x, tf.zeros([5, 5, 3, 1]), 1, "VALID")
    with pytest.raises(ValueError, match=r"Depth of input \(3\) is not a multiple of input depth of filter \(2\)"):
        tf.nn.conv2d(x, tf.zeros([2, 2, 2, 1]), 1, "SAME")
    with pytest.raises(ValueError, match="ksize should be of length 1, 2 or 4 but was 3"):
        tf.nn.max_pool(x, [1, 2, 2], 2, "SAME")


@pytest.mark.parametrize("is_training", [True, False])
def test_fused_normalization_and_its_gradients_are_those_of_the_formula(is_training: bool) -> None:
    x = tf.constant(np.random.default_rng(0).normal(size=(3, 4, 5, 2)).astype(np.float32))
    scale, offset = tf.constant([1.5, 0.5]), tf.constant([0.1, -0.2])
    mean, variance = tf.nn.moments(x, [0, 1, 2]) if is_training else (tf.constant([0.1, 0.2]), tf.constant([1.5, 2.0]))
    given = () if is_training else (mean, variance)
    fused, _, _ = tf.nn.fused_batch_norm(x, scale, offset, *given, is_training=is_training)
    plain = tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)
    weights = np.random.default_rng(1).normal(size=(3, 4, 5, 2)).astype(np.float32)
    found = [[made, *tf.gradients(made * weights, [x, scale, offset])] for made in (fused, plain)]
    for one, other in zip(*_run(*found), strict=True):
        assert np.allclose(one, other, atol=1e-4)


@pytest.mark.parametrize("is_training", [True, False])
def test_second_derivatives_of_fused_normalization_are_those_of_the_formula(is_training: bool) -> None:
    generator = np.random.default_rng(0)
    x = tf.constant(generator.normal(size=(3, 4, 5, 2)).astype(np.float32))
    scale, offset = tf.constant([1.5, 0.5]), tf.constant([0.1, -0.2])
    mean, variance = tf.constant([0.1, 0.2]), tf.constant([1.5, 2.0])
    if is_training:
        # That of tf.nn.moments takes the mean in it for a constant.
        mean = tf.reduce_mean(x, [0, 1, 2])
        variance = tf.reduce_mean(tf.square(x - mean), [0, 1, 2])
    given = () if is_training else (mean, variance)
    fused, _, _ = tf.nn.fused_batch_norm(x, scale, offset, *given, is_training=is_training)
    plain = tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)
    weights = [tf.constant(generator.normal(size=(3, 4, 5, 2)).astype(np.float32)) for _ in range(3)]
    found = []
    for made in (fused, plain):
        of_x, of_scale, of_offset = tf.gradients(made * made * weights[0], [x, scale, offset])
        total = tf.reduce_sum(of_x * weights[1]) + tf.reduce_sum(of_scale * [2.0, -1.0]) + tf.reduce_sum(of_offset * [0.5, 3.0])
        found.append(tf.gradients(total, [x, scale, offset]))
    for one, other in zip(*_run(*found), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("shape", [[0, 6, 5, 2], [1, 6, 5, 0]])
def test_gradients_of_a_convolution_of_nothing_are_zero(shape: list[int]) -> None:
    images, filters = tf.zeros(shape), tf.placeholder(tf.float32, [3, 2, None, 3])
    back = tf.nn.conv2d_backprop_filter(images, [3, 2, 2, 3], tf.zeros([shape[0], 6, 5, 3]), [1, 1, 1, 1], "SAME")
    with tf.Session() as session:
        assert session.run(back).tolist() == np.zeros((3, 2, 2, 3)).tolist()
    assert filters.shape.as_list() == [3, 2, None, 3]


def test_gradients_of_a_convolution_have_channels_that_fit() -> None:
    sizes = tf.placeholder(tf.int32, [4])
    back = tf.nn.conv2d_backprop_filter(tf.zeros([1, 4, 4, 4]), sizes, tf.zeros([1, 4, 4, 6]), [1, 1, 1, 1], "SAME")
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="evenly divisible by filter depth: 4 vs 3"):
            session.run(back, {sizes: [1, 1, 3, 6]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="out_backprop and filter_sizes must have the same number"):
            session.run(back, {sizes: [1, 1, 4, 5]})


def test_a_window_beyond_the_border_is_refused_when_it_is_known_and_makes_nothing_in_a_run() -> None:
    pooled = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    with pytest.raises(ValueError, match="Negative dimension size caused by subtracting 2 from 1"):
        tf.nn.avg_pool(tf.zeros([1, 4, 1, 2]), **pooled)
    x = tf.placeholder(tf.float32)
    with tf.Session() as session:
        assert session.run(tf.nn.avg_pool(x, **pooled), {x: np.zeros((1, 4, 1, 2))}).shape == (1, 2, 0, 2)


def test_ctc_loss_is_minus_the_log_of_the_share_of_paths_and_has_its_gradient() -> None:
    logits = np.random.default_rng(0).normal(size=(2, 1, 2)).astype(np.float32)
    x = tf.constant(logits)
    loss = tf.nn.ctc_loss(tf.SparseTensor([[0, 0]], [0], [1, 1]), x, [2])
    found, grad = _run(loss, tf.gradients(loss, x)[0])
    blank = np.exp(logits[:, 0, 1]) / np.exp(logits[:, 0]).sum(-1)

    def expected(blanks: Any) -> Any:
        return -np.log(1 - blanks[0] * blanks[1])

    assert found == pytest.approx([expected(blank)], abs=1e-5)
    derivative = np.prod(blank) / (1 - np.prod(blank)) * (1 - blank)
    assert grad[:, 0, 1] == pytest.approx(derivative, abs=1e-4)


def test_samplers_draw_different_classes_and_repeat_with_their_seed() -> None:
    drawn = tf.nn.log_uniform_candidate_sampler(np.array([[1, 2]]), 2, 20, True, 50, seed=3)
    with tf.Session() as session:
        first, second = session.run(drawn.sampled_candidates), session.run(drawn.sampled_candidates)
    assert len(set(first.tolist())) == 20
    assert first.tolist() != second.tolist()
    assert _run(drawn.sampled_candidates).tolist() == first.tolist()


@pytest.mark.parametrize(("kind", "best"), [("MAX", np.max), ("AVG", np.mean)])
def test_pooling_windows_may_have_gaps(kind, best):
    x = np.random.RandomState(0).randn(1, 7, 6, 2).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        made = session.run(tf.nn.pool(x, [2, 2], kind, "VALID", dilation_rate=[2, 3]))
        first = session.run(tf.nn.pool(np.moveaxis(x, -1, 1), [2, 2], kind, "VALID", dilation_rate=[2, 3], data_format="NCHW"))
        assert session.run(tf.nn.pool(x, [2, 2], kind, "SAME", dilation_rate=[2, 2])).shape == x.shape
        with pytest.raises(ValueError, match="not supported in conjunction"):
            tf.nn.pool(x, [2, 2], kind, "SAME", dilation_rate=[2, 2], strides=[2, 2])
    expected = [[best(x[0, i : i + 3 : 2, j : j + 4 : 3], (0, 1)) for j in range(3)] for i in range(5)]
    np.testing.assert_allclose(made[0], expected, rtol=1e-5)
    np.testing.assert_allclose(np.moveaxis(first, 1, -1), made, rtol=1e-5)


def test_pooling_and_transposed_convolutions_follow_the_rank():
    with tf.Graph().as_default(), tf.Session() as session:
        for spatial in ([8], [8, 8], [8, 8, 8]):
            x = tf.ones([2, *spatial, 3])
            half = [2, *(4 for _ in spatial), 3]
            assert session.run(tf.nn.max_pool_v2(x, 2, 2, "SAME")).shape == tuple(half)
            assert session.run(tf.nn.avg_pool_v2(x, 2, 2, "SAME")).shape == tuple(half)
            filters = tf.ones([*(3 for _ in spatial), 5, 3])
            wide = [2, *(16 for _ in spatial), 5]
            assert session.run(tf.nn.conv_transpose(x, filters, wide, 2)).shape == tuple(wide)


def test_a_transposed_convolution_wants_the_channels_that_its_filters_make() -> None:
    with (
        tf.Graph().as_default(),
        pytest.raises(ValueError, match="input channels does not match filter's input channels, 1 != 2"),
    ):
        tf.nn.conv2d_transpose(tf.zeros([1, 2, 2, 1]), tf.zeros([3, 3, 2, 2]), [1, 4, 4, 2], [1, 2, 2, 1])


def test_ranks_and_formats_are_checked_in_tensorflow_s_words():
    with pytest.raises(ValueError, match="Input tensor must be of rank 3, 4 or 5 but was 2"):
        tf.nn.max_pool_v2(tf.zeros([3, 4]), 2, 2, "SAME")
    image, kernel = tf.zeros([1, 4, 4, 1]), tf.zeros([2, 2, 1, 1])
    with pytest.raises(ValueError, match="output_shape must be a tensor or sized collection"):
        tf.nn.conv_transpose(image, kernel, 2, 2)
    for shape in ([1, 2], tf.constant([1, 2])):
        with pytest.raises(ValueError, match="output_shape must be of length 3, 4 or 5 but was 2"):
            tf.nn.conv_transpose(image, kernel, shape, 2)
    assert tf.nn.conv_transpose(image, kernel, tf.constant([1, 8, 8, 1]), 2).shape.ndims == 4


@pytest.mark.parametrize("op", [tf.raw_ops.DataFormatDimMap, tf.raw_ops.DataFormatVecPermute])
@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("12345678", "87654321", "Source format must be of length 4 or 5, received src_format = 12345678"),
        ("1234", "43215678", "Destination format must be of length 4 or 5"),
        ("1234", "5321", "Destination and source format must determine a permutation, got 1234 and 5321"),
        ("1233", "3321", "Destination and source format must determine a permutation"),
    ],
)
def test_formats_of_images_are_permutations(op, source, target, message):
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(op(x=tf.constant([1, 3, 2, 0]), src_format=source, dst_format=target))


def test_whole_numbers_have_no_scientific_form():
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="scientific and shortest format not"):
        session.run(tf.as_string(tf.constant(1), scientific=True))


@pytest.mark.parametrize("is_training", [True, False])
def test_normalizing_no_images_gives_their_scale_and_offset_no_gradient(is_training):
    images = tf.placeholder(tf.float32, [None, 2, 2, 3])
    scale, offset = tf.constant([1.0, 2.0, 3.0]), tf.constant([0.1, 0.2, 0.3])
    statistics = {} if is_training else {"mean": [0.0] * 3, "variance": [1.0] * 3}
    made, mean, _ = tf.nn.fused_batch_norm(images, scale, offset, is_training=is_training, **statistics)
    with tf.Session() as sess:
        found = sess.run([made, mean, *tf.gradients(made, [images, scale, offset])], {images: np.zeros((0, 2, 2, 3))})
    assert found[0].shape == found[2].shape == (0, 2, 2, 3)
    assert np.isnan(found[1]).all()
    assert [each.tolist() for each in found[3:]] == [[0, 0, 0]] * 2
