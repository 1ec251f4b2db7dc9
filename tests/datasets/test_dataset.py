"""Datasets and iterators through the public API, in one process."""

import contextlib
import gzip
import itertools
import types
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.ops.data import files


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def elements(dataset, count=1000):
    """All elements of a dataset, or the first of them."""
    iterator = dataset.make_initializable_iterator()
    following = iterator.get_next()
    found = []
    with tf.Session() as session:
        session.run(iterator.initializer)
        with contextlib.suppress(tf.errors.OutOfRangeError):
            for _ in range(count):
                found.append(session.run(following))
    return found


def numbers(dataset, count=1000):
    """All elements of a dataset of scalars or vectors, as Python numbers."""
    return [np.asarray(value).tolist() for value in elements(dataset, count)]


def test_the_rows_of_tensors_come_in_order_and_structure():
    dataset = tf.data.Dataset.from_tensor_slices({"a": [[1, 2], [3, 4]], "b": (np.float64([5, 6]), ["x", "y"])})
    first, second = elements(dataset)
    assert first["a"].tolist() == [1, 2]
    assert (second["b"][0], second["b"][1]) == (6.0, b"y")
    assert dataset.output_types == {"a": tf.int32, "b": (tf.float64, tf.string)}
    assert (
        repr(dataset) == "<DatasetV1Adapter shapes: {a: (2,), b: ((), ())}, types: {a: tf.int32, b: (tf.float64, tf.string)}>"
    )


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda d: d.repeat(2), [0, 1, 2, 3, 4] * 2),
        (lambda d: d.take(2), [0, 1]),
        (lambda d: d.skip(3), [3, 4]),
        (lambda d: d.shard(2, 1), [1, 3]),
        (lambda d: d.batch(2), [[0, 1], [2, 3], [4]]),
        (lambda d: d.batch(2, drop_remainder=True), [[0, 1], [2, 3]]),
        (lambda d: d.map(lambda x: x * 10), [0, 10, 20, 30, 40]),
        (lambda d: d.filter(lambda x: x > 2), [3, 4]),
        (lambda d: d.concatenate(tf.data.Dataset.range(2)), [0, 1, 2, 3, 4, 0, 1]),
        (lambda d: d.flat_map(lambda x: tf.data.Dataset.range(x)), [0, 0, 1, 0, 1, 2, 0, 1, 2, 3]),
        (lambda d: d.shuffle(3, seed=1), [1, 3, 0, 4, 2]),
        (lambda d: d.shuffle(3, seed=1).repeat(2), [0, 3, 2, 1, 4, 2, 1, 4, 0, 3]),
        (lambda d: d.shuffle(3, seed=1, reshuffle_each_iteration=False).repeat(2), [0, 3, 2, 1, 4] * 2),
        (lambda d: d.apply(lambda e: e.take(1)), [0]),
    ],
)
def test_a_transformation_gives_what_tensorflow_gives(make, expected):
    assert numbers(make(tf.data.Dataset.range(5))) == expected


def test_rows_that_are_batched_come_as_one_by_one():
    rows = np.arange(30, dtype=np.float32).reshape(10, 3)
    dataset = tf.data.Dataset.from_tensor_slices((rows, np.arange(10))).shuffle(4, seed=3).repeat(2).skip(1)
    by_batch = elements(dataset.batch(4))
    by_one = elements(dataset)
    assert [len(labels) for _, labels in by_batch] == [4, 4, 4, 4, 3]
    assert np.concatenate([labels for _, labels in by_batch]).tolist() == [label for _, label in by_one]
    assert np.array_equal(np.concatenate([values for values, _ in by_batch]), np.stack([values for values, _ in by_one]))


def test_a_one_shot_iterator_needs_no_initializer_and_begins_anew_in_each_session():
    following = tf.data.Dataset.range(2).map(lambda x: x + 1).make_one_shot_iterator().get_next()
    for _ in range(2):
        with tf.Session() as session:
            assert [session.run(following), session.run(following)] == [1, 2]
            with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
                session.run(following)


def test_a_one_shot_iterator_of_a_variable_is_refused_while_the_graph_is_built():
    variable = tf.get_variable("v", initializer=1, use_resource=True)
    dataset = tf.data.Dataset.range(2).map(lambda x: tf.cast(x, tf.int32) + variable)
    with pytest.raises(ValueError, match=r"make_initializable_iterator.*Cannot capture a stateful node \(name:v"):
        dataset.make_one_shot_iterator()


def test_an_iterator_that_was_not_initialized_says_so():
    following = tf.data.Dataset.range(2).make_initializable_iterator().get_next()
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="has not been initialized"):
        session.run(following)


def test_a_function_sees_variables_as_they_are_when_an_element_is_made():
    variable = tf.get_variable("v", initializer=1, use_resource=True)
    iterator = tf.data.Dataset.range(3).map(lambda x: tf.cast(x, tf.int32) + variable).make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session() as session:
        session.run(variable.initializer)
        session.run(iterator.initializer)
        assert session.run(following) == 1
        session.run(variable.assign(10))
        assert session.run(following) == 11


def test_one_iterator_goes_over_any_dataset_of_its_structure():
    iterator = tf.data.Iterator.from_structure(tf.int64, [])
    following = iterator.get_next()
    first, second = (iterator.make_initializer(tf.data.Dataset.range(n, n + 2)) for n in (0, 10))
    with tf.Session() as session:
        for initializer, expected in ((first, [0, 1]), (second, [10, 11]), (first, [0, 1])):
            session.run(initializer)
            assert [session.run(following), session.run(following)] == expected
    with pytest.raises(TypeError, match="Expected output types"):
        iterator.make_initializer(tf.data.Dataset.from_tensors(1.0))


def test_a_fed_string_chooses_the_iterator():
    training = tf.data.Dataset.range(3).make_one_shot_iterator()
    testing = tf.data.Dataset.range(100, 103).make_initializable_iterator()
    handle = tf.placeholder(tf.string, [])
    following = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    with tf.Session() as session:
        of_training, of_testing = session.run([training.string_handle(), testing.string_handle()])
        session.run(testing.initializer)
        values = [session.run(following, {handle: each}) for each in (of_training, of_testing, of_training)]
        assert values == [0, 100, 1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse"):
            session.run(following, {handle: b"nonsense"})


def test_a_failing_function_says_which_element_of_which_dataset_and_where():
    dataset = tf.data.Dataset.range(5).map(lambda x: tf.check_numerics(1.0 / tf.cast(2 - x, tf.float32), "not finite"))
    iterator = dataset.make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run([following])
        session.run([following])
        with pytest.raises(tf.errors.InvalidArgumentError, match="not finite") as caught:
            session.run(following)
        assert "[[element 2 of MapDataset 'MapDataset', built at " in caught.value.message
        assert f"{__file__}:" in caught.value.message
        assert caught.value.op is following.op
        # The iteration goes on behind the element.
        assert session.run(following) == -1.0


def test_an_order_that_seeds_tell_is_the_one_that_tensorflow_has():
    tf.set_random_seed(5)
    dataset = tf.data.Dataset.range(3).map(lambda x: tf.random_uniform([])).repeat(2)
    expected = [0.8398714, 0.73855865, 0.34402668, 0.6545304, 0.43996608, 0.3071612]
    iterator = dataset.make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session() as session:
        for _ in range(2):
            session.run(iterator.initializer)
            assert np.allclose([session.run(following) for _ in range(6)], expected)


def test_the_graphs_seed_gives_functions_the_numbers_that_tensorflow_draws_behind_nodes_of_which_it_makes_more():
    tf.set_random_seed(1)
    dataset = tf.data.Dataset.range(1).map(
        lambda x: tf.nn.softmax([[1.0], [1.0]], axis=0)[0, 0] + tf.clip_by_value(1.0, 0.0, 1.0) + tf.random_uniform([])
    )
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session:
        assert session.run(following) == pytest.approx(2.0094519)


def test_shapes_that_do_not_fit_into_a_batch_are_an_error_that_names_them():
    dataset = tf.data.Dataset.range(3).map(lambda x: tf.fill([x], x)).batch(2)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"component 0. First element had shape \[0\] and element 1"):
        elements(dataset)


def test_two_iterators_that_fill_one_cache_at_a_time_both_have_all_elements(tmp_path):
    cached = tf.data.Dataset.range(3).cache(str(tmp_path / "numbers"))
    first, second = (cached.make_one_shot_iterator().get_next() for _ in range(2))
    with tf.Session() as session:
        pairs = [session.run([first, second]) for _ in range(3)]
        for ended in (first, second):
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(ended)
    assert pairs == [[0, 0], [1, 1], [2, 2]]
    assert numbers(cached) == [0, 1, 2]
    assert [each.name for each in tmp_path.iterdir()] == ["numbers"]


def test_an_iterator_that_does_not_fill_its_cache_leaves_that_of_another_alone(tmp_path):
    cached = tf.data.Dataset.range(3).cache(str(tmp_path / "numbers"))
    first, second = (cached.make_one_shot_iterator().get_next() for _ in range(2))
    with tf.Session() as session:
        assert [session.run(each) for each in (first, second, first)] == [0, 0, 1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("predicate", "told"),
    [
        (lambda x: x % 2 == 0, "by `==`, which asks whether two tensors are the same object: it has returned False"),
        (lambda x: x != 2, "tf.not_equal compares their values"),
        (lambda x: True, ""),
        (lambda x: tf.equal(x, 2), ""),
    ],
)
def test_a_filter_that_compares_tensors_by_identity_is_told(predicate, told, caplog):
    tf.data.Dataset.range(3).filter(predicate)
    assert told in caplog.text
    assert bool(told) == bool(caplog.records)


class Pair:
    """What attrs makes of a class, as far as structures look at it."""

    __attrs_attrs__ = (types.SimpleNamespace(name="a"), types.SimpleNamespace(name="b"))

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b


def test_objects_of_attrs_are_structures_of_elements() -> None:
    pairs = tf.data.Dataset.range(3).map(lambda i: Pair(i, (i, i * 2)))
    types_of = tf.data.get_output_types(pairs)
    assert (type(types_of), types_of.a, types_of.b) == (Pair, tf.int64, (tf.int64, tf.int64))
    batch = tf.data.make_one_shot_iterator(pairs.batch(3)).get_next()
    sums = tf.data.make_one_shot_iterator(pairs.map(lambda pair: pair.a + pair.b[1]).batch(3)).get_next()
    with tf.Session() as session:
        found, added = session.run([batch, sums])
    assert (found.a.tolist(), found.b[1].tolist(), added.tolist()) == ([0, 1, 2], [0, 2, 4], [0, 3, 6])
    with pytest.raises(TypeError, match="have different types"):
        pairs.concatenate(tf.data.Dataset.range(2))


def test_a_generator_is_let_go_of_behind_the_last_element_that_is_taken():
    gone = []

    class Numbers:
        def __iter__(self):
            return self

        def __next__(self):
            return 42

        def __del__(self):
            gone.append(None)

    following = tf.data.make_one_shot_iterator(tf.data.Dataset.from_generator(Numbers, tf.int64).take(2)).get_next()
    with tf.Session() as session:
        assert [session.run(following) for _ in range(2)] == [42, 42]
        assert gone == []
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(following)
        assert gone == [None]


def checked(values):
    return tf.data.Dataset.from_tensor_slices(np.float32(values)).map(lambda x: tf.check_numerics(x, "wrong"))


def rows_of_windows(dataset, *settings):
    return dataset.window(*settings).flat_map(lambda window: window.batch(2))


def test_an_error_belongs_to_the_windows_that_have_its_element():
    nan = np.nan
    between = rows_of_windows(checked([1, nan, 2, nan, 3]), 2, 2, 2, True)
    assert [each.tolist() for each in elements(between)] == [[1.0, 2.0], [2.0, 3.0]]
    within = rows_of_windows(checked([1, nan, 2, nan, 3, 4, 5]), 2, 2)
    kept = within.apply(tf.data.experimental.ignore_errors())
    assert [each.tolist() for each in elements(kept)] == [[3.0, 4.0], [5.0]]
    following = tf.data.make_one_shot_iterator(within).get_next()
    with tf.Session() as session:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="wrong"):
                session.run(following)
        assert session.run(following).tolist() == [3.0, 4.0]


def test_components_of_different_batch_sizes_are_not_unbatched():
    with pytest.raises(ValueError, match=r"components have different batch sizes. They have \[7, 8\] rows"):
        tf.data.Dataset.from_tensors((np.arange(7), np.arange(8))).unbatch()


@pytest.mark.parametrize(
    ("indices", "values", "shape", "error", "message"),
    [
        ([[1, 0], [0, 0]], [1.0, 2.0], [2, 3], tf.errors.UnimplementedError, "must be ordered in the batch dimension"),
        ([[0, 0], [1, 1]], [1.0], [2, 2], tf.errors.InvalidArgumentError, "indices = 2, values = 1"),
        (np.empty((0, 2)), [1.0], [0, 2], tf.errors.InvalidArgumentError, "indices = 0, values = 1"),
        ([[0, 0]], [1.0], [2, 2, 2], tf.errors.InvalidArgumentError, "Order length must be SparseTensor rank"),
    ],
)
def test_sparse_slices_that_do_not_fit_are_refused(indices, values, shape, error, message):
    sparse = tf.sparse_placeholder(tf.float64)
    iterator = tf.data.make_initializable_iterator(tf.data.Dataset.from_sparse_tensor_slices(sparse))
    with tf.Session() as session, pytest.raises(error, match=message):
        session.run(iterator.initializer, {sparse: tf.SparseTensorValue(indices, values, shape)})


@pytest.mark.parametrize("calls", [None, 2])
def test_an_error_takes_the_batch_of_its_element_and_no_other(calls):
    def until(limit):
        def number(i):
            if i >= limit:
                raise StopIteration
            return i

        return lambda x: tf.py_func(number, [x], tf.int64)

    def not_four(x):
        return tf.check_numerics(tf.where(tf.equal(x, 4), np.float32(np.nan), tf.cast(x, tf.float32)), "four")

    def batches(function):
        made = tf.data.experimental.map_and_batch(function, 3, num_parallel_calls=calls)
        return tf.data.Dataset.range(9).apply(made)

    kept = batches(not_four).apply(tf.data.experimental.ignore_errors())
    assert [each.tolist() for each in elements(kept)] == [[0, 1, 2], [6, 7, 8]]
    following = tf.data.make_one_shot_iterator(batches(until(5))).get_next()
    with tf.Session() as session:
        assert session.run(following).tolist() == [0, 1, 2]
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Function invocation produced OutOfRangeError"):
                session.run(following)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(following)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("buffer_size", [1, 4, 10, 25])
@pytest.mark.parametrize("is_new", [True, False])
def test_a_shuffle_has_one_order_whether_elements_come_one_by_one_or_many_at_a_time(count, buffer_size, is_new):
    rows = tf.data.Dataset.from_tensor_slices(np.arange(10))

    def order(dataset):
        shuffled = dataset.shuffle(buffer_size, seed=7, reshuffle_each_iteration=is_new).repeat(count)
        return [numbers(shuffled), list(itertools.chain(*numbers(shuffled.batch(6))))]

    one_by_one = rows.map(lambda x: x)
    by_numbers = tf.data.Dataset.range(10)
    singly, together = order(one_by_one)
    assert singly == together
    assert order(rows) == order(by_numbers) == [singly, singly]


@pytest.mark.parametrize("compression", ["", "GZIP"])
@pytest.mark.parametrize("block_bytes", [1, 2, 3, 1 << 18])
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (b"a\nb\r\n\r\n\nc\r\n\r", [b"a", b"b", b"", b"", b"c"]),  # as TensorFlow 2.21 and 1.15 have it
        (b"one\ntwo", [b"one", b"two"]),
        (b"\n", [b""]),
        (b"", []),
    ],
)
def test_lines_are_those_of_tensorflow(tmp_path, monkeypatch, text, lines, block_bytes, compression):
    monkeypatch.setattr(files, "_BLOCK_BYTES", block_bytes)
    path = tmp_path / "lines"
    path.write_bytes(gzip.compress(text) if compression else text)
    assert elements(tf.data.TextLineDataset(str(path), compression_type=compression)) == lines
