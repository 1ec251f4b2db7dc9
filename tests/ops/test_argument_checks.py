"""Arguments that ops refuse while the graph is built, and the scope of merged summaries."""

from __future__ import annotations

import pytest

import weft as tf


def test_fill_takes_a_scalar_only():
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 2"):
        tf.fill([2], tf.zeros([2, 3]))


def test_print_takes_a_list_of_data():
    with pytest.raises(TypeError, match="Expected list for 'data' argument to 'Print' Op, not x"):
        tf.Print(tf.zeros([2]), "x")


# All asked of TensorFlow 1.15, which took or refused the same.


@pytest.mark.parametrize("shared_name", [[], (), 3])
def test_a_shared_name_that_is_no_text_is_refused_where_it_stands(shared_name):
    for make in (
        lambda: tf.FIFOQueue(2, tf.float32, shared_name=shared_name),
        lambda: tf.RandomShuffleQueue(2, 1, tf.float32, shared_name=shared_name),
        lambda: tf.ConditionalAccumulator(tf.float32, shared_name=shared_name),
        lambda: tf.train.batch([tf.ones([2])], 2, shared_name=shared_name),
    ):
        with pytest.raises(TypeError, match="Expected string for argument 'shared_name'"):
            make()


def test_an_empty_layout_is_none():
    images = tf.ones([1, 4, 4, 3])
    for make in (
        lambda: tf.nn.max_pool(images, [1, 2, 2, 1], [1, 1, 1, 1], "SAME", data_format=""),
        lambda: tf.nn.conv2d(images, tf.ones([3, 3, 3, 2]), [1, 1, 1, 1], "SAME", data_format=""),
        lambda: tf.nn.conv2d_transpose(images, tf.ones([3, 3, 2, 3]), [1, 4, 4, 2], [1, 1, 1, 1], "SAME", data_format=""),
    ):
        with pytest.raises(ValueError, match=r"Attr 'data_format' of .* Op passed string '' not in"):
            make()


def test_a_variable_takes_the_numbers_of_its_options():
    with tf.Graph().as_default():
        made = tf.get_variable("v", [2], synchronization=3, aggregation=1)
        assert (made.synchronization, made.aggregation) == (tf.VariableSynchronization.ON_READ, tf.VariableAggregation.SUM)
        assert not made.trainable
        assert tf.Variable(1.0, synchronization=None, aggregation=0).synchronization is tf.VariableSynchronization.AUTO
        with pytest.raises(ValueError, match="Invalid variable aggregation mode: 4"):
            tf.Variable(1.0, aggregation=4)


def test_a_scope_and_a_files_suffix_are_texts(tmp_path):
    with pytest.raises(TypeError, match=r"is not a string type\. You likely meant to pass this into the `values` kwarg"):
        tf.name_scope("scope", [tf.ones([2])])
    with pytest.raises(TypeError, match="Expected binary or unicode string, got -1"):
        tf.summary.FileWriter(str(tmp_path), filename_suffix=-1)


def test_merged_summaries_are_named_within_a_scope():
    tf.summary.scalar("loss", 1.0)
    assert tf.summary.merge_all().name == "Merge/MergeSummary:0"
    assert tf.summary.merge_all().name == "Merge_1/MergeSummary:0"


@pytest.mark.parametrize("axes", [[[0], [0, 1]], ([0, 1], [0])])
def test_tensordot_sums_over_as_many_axes_of_both(axes):
    counts = f"{len(axes[0])} != {len(axes[1])}"
    with pytest.raises(ValueError, match=f"Different number of contraction axes 'a' and 'b', {counts}"):
        tf.tensordot(tf.ones([2, 3]), tf.ones([3, 2]), axes)


def test_tensordot_takes_one_axis_as_a_number_or_as_a_list():
    expected = tf.tensordot(tf.ones([2, 3]), tf.ones([2, 4]), [[0], [0]])
    for axes in ([0, 0], (0, [0]), [[0], 0]):
        assert tf.tensordot(tf.ones([2, 3]), tf.ones([2, 4]), axes).shape == expected.shape
