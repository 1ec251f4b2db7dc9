"""Maps that call their function for several elements side by side: nobody can tell it from calls one after the other."""

import contextlib

import numpy as np
import pytest

import weft as tf
from weft.ops.data import pool
from weft.platform.machine.interpreter_turns import LEAST

DS = tf.data.Dataset


def _outcomes(make, count=40):
    """What each step gives for a dataset: numbers, or an error's text."""
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        tf.add_to_collection("table", tf.contrib.lookup.index_table_from_tensor(["0", "1", "2"], default_value=9))
        iterator = make().make_initializable_iterator()
        following = iterator.get_next()
        found = []
        with tf.Session() as session:
            session.run([tf.tables_initializer(), iterator.initializer])
            for _ in range(count):
                try:
                    found.append(np.asarray(session.run(following)).tolist())
                except tf.errors.OutOfRangeError:
                    found.append("end")
                except tf.errors.OpError as error:
                    found.append(error.message.replace(f"{__file__}", ""))
        return found


def _fails(x):
    """The number, but for 3, 7 and 8, at which one node or another fails."""
    y = tf.check_numerics(1.0 / tf.cast(x - 3, tf.float32), "three")
    with tf.control_dependencies([y, tf.Assert(tf.not_equal(x, 7), ["seven"])]):
        z = tf.random_uniform([], seed=1)
    with tf.control_dependencies([tf.Assert(tf.not_equal(x, 8), ["eight"])]):
        return tf.cast(x, tf.float32) + z + tf.random_uniform([], seed=2)


def _branches(x):
    return tf.cond(tf.equal(x % 3, 0), lambda: tf.random_uniform([], seed=1), lambda: tf.random_normal([], seed=2))


def _looks_up(x):
    (table,) = tf.get_collection("table")
    return table.lookup(tf.as_string(x % 4))


def _of_many_sizes(x):
    return tf.reduce_sum(tf.range(x)) + tf.size(tf.string_split([tf.as_string(x)]).values, out_type=tf.int64)


@pytest.mark.parametrize("function", [_fails, _branches, _looks_up, _of_many_sizes])
@pytest.mark.parametrize("parallel", [None, 3])
@pytest.mark.parametrize(
    "behind",
    [
        lambda d: d.batch(5),
        lambda d: d.batch(64),
        lambda d: d.repeat(3).batch(7),
        lambda d: d.shuffle(6, seed=1).batch(4),
        lambda d: d.prefetch(2),
    ],
)
def test_what_comes_is_what_comes_one_by_one(monkeypatch, function, parallel, behind):
    def make():
        return behind(DS.range(20).map(function, num_parallel_calls=parallel))

    side_by_side = _outcomes(make)
    monkeypatch.setattr(pool.Called, "is_pure", False)
    assert _outcomes(make) == side_by_side


@pytest.mark.parametrize("function", [_fails, _looks_up])
def test_batches_of_a_map_are_those_of_calls_one_by_one(monkeypatch, function):
    def make():
        return DS.range(20).apply(tf.data.experimental.map_and_batch(function, 6))

    side_by_side = _outcomes(make)
    monkeypatch.setattr(pool.Called, "is_pure", False)
    assert _outcomes(make) == side_by_side


def test_a_function_is_called_for_as_many_elements_as_are_wanted(monkeypatch):
    sizes = []
    each = pool.Called.each
    monkeypatch.setattr(pool, "_QUICK_S", float("inf"))
    monkeypatch.setattr(
        pool.Called, "each", lambda self, elements, *rest: (sizes.append(len(elements)), each(self, elements, *rest))[1]
    )
    assert _outcomes(lambda: DS.range(100).map(lambda x: x + 1).batch(10), 3) == [list(range(n, n + 10)) for n in (1, 11, 21)]
    assert sum(sizes) == 30
    assert sizes[0] == LEAST


@pytest.mark.parametrize(
    "function", [lambda x: tf.py_func(lambda v: v, [x], tf.int64), lambda x: DS.range(x).reduce(x, tf.add)]
)
def test_a_function_that_others_notice_is_called_for_one_after_the_other(monkeypatch, function):
    monkeypatch.setattr(pool.Called, "each", None)
    with tf.Graph().as_default(), tf.Session() as session:
        following = DS.range(9).map(function).batch(9).make_one_shot_iterator().get_next()
        assert len(session.run(following)) == 9


def test_results_behind_one_that_failed_are_saved_with_the_iterator(tmp_path):
    with tf.Graph().as_default():
        iterator = DS.range(20).map(_fails).batch(5).make_initializable_iterator()
        following = iterator.get_next()
        saver = tf.train.Saver({"iterator": tf.data.experimental.make_saveable_from_iterator(iterator)})
        with tf.Session() as session:
            session.run(iterator.initializer)
            with pytest.raises(tf.errors.InvalidArgumentError, match="three"):
                session.run(following)
            path = saver.save(session, str(tmp_path / "model"), write_meta_graph=False)
            expected = _rest(session, following)
        with tf.Session() as session:
            session.run(iterator.initializer)
            saver.restore(session, path)
            assert _rest(session, following)[:2] == expected[:2]


def _rest(session, following):
    found = []
    with contextlib.suppress(tf.errors.OutOfRangeError):
        while True:
            try:
                found.append([int(value) for value in session.run(following)])
            except tf.errors.InvalidArgumentError as error:
                found.append(error.message.splitlines()[0])
    return found
