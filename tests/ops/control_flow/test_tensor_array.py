"""TensorArray: elements written and read, in and out of loops."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.ops.both_ways import assert_gradient, each_way, own_graph, session

_ = own_graph


@each_way
def test_reads_and_stacks_what_was_written(way):
    array = tf.TensorArray(tf.float32, 3).write(0, [1.0, 2.0]).write(2, [3.0, 4.0])
    assert array.stack().shape.as_list() == [3, 2]
    with session(way) as sess:
        assert sess.run(array.stack()).tolist() == [[1, 2], [0, 0], [3, 4]]
        assert sess.run(array.read(2)).tolist() == [3, 4]
        assert sess.run(array.gather([2, 0])).tolist() == [[3, 4], [1, 2]]
        assert sess.run(array.concat()).tolist() == [1, 2, 0, 0, 3, 4]
        assert sess.run(array.size()) == 3


@each_way
def test_unstacks_scatters_and_splits(way):
    with session(way) as sess:
        assert sess.run(tf.TensorArray(tf.float32, 2).unstack([[1.0], [2.0]]).read(1)).tolist() == [2]
        assert sess.run(tf.TensorArray(tf.float32, 3).scatter([2, 0], [5.0, 6.0]).stack()).tolist() == [6, 0, 5]
        split = tf.TensorArray(tf.float32, 2, infer_shape=False).split([1.0, 2.0, 3.0], [1, 2])
        assert sess.run(split.read(1)).tolist() == [2, 3]
        assert sess.run(split.concat()).tolist() == [1, 2, 3]


@each_way
def test_grows_in_a_loop(way):
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    body = lambda i, a: (i + 1, a.write(i, tf.cast(i, tf.float32)))  # noqa: E731
    _, array = tf.while_loop(lambda i, a: i < 4, body, [tf.constant(0), array])
    with session(way) as sess:
        assert sess.run(array.stack()).tolist() == [0, 1, 2, 3]
        assert sess.run(array.size()) == 4


@each_way
def test_gradient_through_a_loop_that_reads_and_writes(way):
    x = tf.placeholder(tf.float64, [4, 2])
    source = tf.TensorArray(tf.float64, 4, clear_after_read=False).unstack(x)

    def body(i, out):
        return i + 1, out.write(i, tf.sin(source.read(i)) * source.read(0))

    _, out = tf.while_loop(lambda i, a: i < 4, body, [tf.constant(0), tf.TensorArray(tf.float64, 4)])
    assert out.stack().shape.as_list() == [4, 2]
    with session(way) as sess:
        assert_gradient(sess, out.stack(), x, np.linspace(-1, 1, 8).reshape(4, 2))


@each_way
def test_elements_that_are_gathered_twice_get_the_sum_of_the_gradients(way):
    x = tf.placeholder(tf.float64, [3, 2])
    array = tf.TensorArray(tf.float64, 3, clear_after_read=False).unstack(x)
    gathered = array.gather([1, 0, 1]) * [[1.0], [2.0], [3.0]]
    with session(way) as sess:
        assert sess.run(tf.gradients(gathered, x)[0], {x: np.ones([3, 2])}).tolist() == [[2, 2], [4, 4], [0, 0]]
        assert_gradient(sess, gathered * gathered, x, np.linspace(-1, 1, 6).reshape(3, 2))


def test_elements_of_one_shape_are_gathered_among_others():
    x = tf.constant([1.0, 2.0])
    array = tf.TensorArray(tf.float32, 3, infer_shape=False, clear_after_read=False)
    array = array.write(0, x).write(1, x[:1]).write(2, x * 2.0)
    with session("interpreted") as sess:
        assert sess.run(array.gather([0, 2, 0])).tolist() == [[1, 2], [2, 4], [1, 2]]
        assert sess.run(tf.gradients(array.gather([0, 2, 0]), x)[0]).tolist() == [4, 4]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Index 0 has shape: \[2\] but index 1 has shape: \[1\]"):
            sess.run(array.gather([0, 1]))


def test_fails_outside_of_its_size():
    array = tf.TensorArray(tf.float32, 1).write(0, 1.0)
    with session("interpreted") as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="array is not resizeable and size is: 1"):
            sess.run(array.write(5, 1.0).stack())
        with pytest.raises(tf.errors.InvalidArgumentError, match="array size is: 1"):
            sess.run(array.read(1))


def test_refuses_other_shapes_and_types():
    array = tf.TensorArray(tf.float32, 3).write(0, [1.0, 2.0])
    with pytest.raises(ValueError, match="Inconsistent shapes: saw"):
        array.write(1, [1.0])
    with pytest.raises(TypeError, match="TensorArray dtype is float32 but Op is trying to write dtype int32"):
        array.write(1, tf.constant([1, 2]))
    with pytest.raises(ValueError, match="Size must be provided"):
        tf.TensorArray(tf.float32)


def _refused(value, text):
    with session("interpreted") as sess, pytest.raises(tf.errors.InvalidArgumentError, match=text):
        sess.run(value)


def test_takes_an_element_once():
    array = tf.TensorArray(tf.float32, 2, tensor_array_name="mine").write(0, 1.0)
    _refused(
        array.write(0, 2.0).flow, "TensorArray mine: Could not write to TensorArray index 0 because it has already been written"
    )
    _refused(
        tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0]).write(1, 3.0).flow, "index 1 because it has already been written"
    )


def test_gives_an_element_once_unless_told_to_keep_it():
    def read_twice(**options):
        array = tf.TensorArray(tf.float32, 2, **options).write(0, 1.0)
        first = array.read(0)
        with tf.control_dependencies([first]):
            return array.read(0)

    _refused(read_twice(), "Could not read index 0 twice because it was cleared after a previous read")
    with session("interpreted") as sess:
        assert sess.run(read_twice(clear_after_read=False)) == 1


def test_gives_zeros_for_what_was_never_written_if_the_shape_is_known():
    _refused(tf.TensorArray(tf.float32, 2).read(1), "the element shape is not fully defined")
    with session("interpreted") as sess:
        assert sess.run(tf.TensorArray(tf.float32, 2, element_shape=[2]).read(1)).tolist() == [0, 0]


def test_stacks_only_elements_of_one_shape():
    array = tf.TensorArray(tf.float32, 2, infer_shape=False).write(0, [1.0]).write(1, [1.0, 2.0])
    _refused(array.stack(), r"inconsistent shapes. Index 0 has shape: \[1\] but index 1 has shape: \[2\]")
    with session("interpreted") as sess:
        with pytest.raises(tf.errors.UnimplementedError, match="size zero"):
            sess.run(tf.TensorArray(tf.float32, 0).stack())
        assert sess.run(tf.TensorArray(tf.float32, 0, element_shape=[2]).stack()).shape == (0, 2)


def test_split_parts_fit_the_array():
    _refused(tf.TensorArray(tf.float32, 2).split([1.0, 2.0, 3.0], [1, 2]).flow, "inferred element shape")
    _refused(tf.TensorArray(tf.float32, 2).split([1.0, 2.0, 3.0], [1, 1, 1]).flow, r"size of lengths \(2 vs. 3\)")


@each_way
def test_holds_strings(way):
    with session(way) as sess:
        assert sess.run(tf.TensorArray(tf.string, 2).write(0, "a").write(1, "b").stack()).tolist() == [b"a", b"b"]


def test_wants_integers_as_indices():
    with pytest.raises(TypeError, match="an index must be an integer"):
        tf.TensorArray(tf.float32, 3).write("a", 1.0)
    with pytest.raises(TypeError, match="of type float32"):
        tf.TensorArray(tf.float32, 3).read(1.0)


def test_indices_and_values_fit_each_other_while_the_graph_is_built():
    array = tf.TensorArray(tf.float32, 2)
    with pytest.raises(ValueError, match="Shape must be rank 1 but is rank 0: indices of a TensorArray"):
        array.gather(-1)
    with pytest.raises(TypeError, match=r"an index must be an integer, got .* of type float32"):
        array.scatter(1.5, [1.0])
    for indices, value in ([0], 1.0), ([], 1.0):
        with pytest.raises(ValueError, match="Shape must be at least rank 1 but is rank 0"):
            array.scatter(indices, value)
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 1"):
        array.scatter([0, 1], [1.0])
    with pytest.raises(ValueError, match="Shape must be at least rank 1 but is rank 0"):
        array.unstack(1.0)
    with pytest.raises(ValueError, match="Shape must be at least rank 1 but is rank 0"):
        array.split(1.0, [1])
    with pytest.raises(TypeError, match="Expected string for argument 'source' not 0"):
        array.grad(0)


def test_no_indices_are_integers():
    assert tf.TensorArray(tf.float32, 2, element_shape=[3]).gather([]).shape.as_list() == [0, 3]


def test_the_size_is_an_integer_of_zero_at_least():
    with pytest.raises(TypeError, match=r"Expected int32, got 3\.7 of type 'float' instead"):
        tf.TensorArray(tf.float32, 3.7)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Size should be >= 0\. TensorArray 'seen' was made with size=-1"):
        tf.TensorArray(tf.float32, -1, name="seen")
    size = tf.placeholder(tf.int32, ())
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="Size should be >= 0"):
        session.run(tf.TensorArray(tf.float32, size, element_shape=()).flow, {size: -2})


def test_a_size_of_numpys_needs_no_cast():
    with tf.Graph().as_default() as graph:
        tf.TensorArray(tf.float32, np.int64(3))
        assert [op.type for op in graph.get_operations()] == ["Const", "TensorBuffer"]


def test_unstacks_fewer_parts_than_it_has_elements_and_no_more():
    with tf.Session() as session:
        kept = tf.TensorArray(tf.float32, 5, element_shape=()).unstack([1.0, 2.0, 3.0])
        assert session.run([kept.stack(), kept.size()])[0].tolist() == [1, 2, 3, 0, 0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="array is not resizeable and size is: 3"):
            session.run(tf.TensorArray(tf.float32, 3).unstack([0.0] * 5).stack())


@pytest.mark.parametrize("sizes", [[0, 3], [0, 0, 2], [2, 0], [0, 1, 0]])
def test_elements_behind_an_empty_one_are_joined_without_it(sizes: list[int]) -> None:
    array = tf.TensorArray(tf.int32, len(sizes), infer_shape=False)
    for index, size in enumerate(sizes):
        array = array.write(index, tf.range(size))
    joined = array.concat()
    with tf.Session() as session:
        for _ in range(3):
            assert session.run(joined).tolist() == [each for size in sizes for each in range(size)]


def test_gradients_of_elements_of_several_lengths_add_up_in_a_loop():
    x = tf.placeholder_with_default(tf.reshape(tf.range(12.0), [6, 2]), [6, 2])
    array = lambda: tf.TensorArray(tf.float32, 3, infer_shape=False, element_shape=tf.TensorShape([None, 2]))  # noqa: E731
    pieces = array().split(x, [1, 3, 2])

    def body(i, made):
        return i + 1, made.write(2 - i, pieces.read(i) * tf.cast(i + 1, tf.float32))

    _, made = tf.while_loop(lambda i, _: i < 3, body, [0, array()])
    y = made.concat()
    with tf.Session() as sess:
        found, gradient = sess.run([y, tf.gradients(tf.reduce_sum(y * y), x)[0]])
    scales = np.repeat([1.0, 2.0, 3.0], [1, 3, 2])[:, None]
    rows = np.arange(12.0).reshape(6, 2) * scales
    assert found.tolist() == np.concatenate([rows[4:], rows[1:4], rows[:1]]).tolist()
    assert gradient.tolist() == (2 * rows * scales).tolist()
