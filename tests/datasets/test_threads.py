"""Work ahead of the step: threads that wait, are cancelled, and end."""

import gc
import math
import threading
import time

import pytest

import weft as tf
from weft.ops.data import pool

DS = tf.data.Dataset


def _prefetching():
    return [thread for thread in threading.enumerate() if thread.name == "weft-prefetch"]


def _wait_until(condition, timeout_s=10.0):
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, "it did not come true in time"
        threading.Event().wait(0.01)


@pytest.fixture
def blocked():
    """A dataset whose second element comes when the event is set, and the event."""
    release = threading.Event()

    def generator():
        yield 1
        release.wait(30)
        yield 2

    with tf.Graph().as_default():
        iterator = DS.from_generator(generator, tf.int32, []).prefetch(1).make_initializable_iterator()
        try:
            yield iterator, iterator.get_next()
        finally:
            release.set()


def test_closing_the_session_ends_a_wait_for_an_element(blocked):
    iterator, following = blocked
    errors = []

    def run():
        try:
            session.run(following)
        except (tf.errors.CancelledError, RuntimeError) as error:
            errors.append(error)

    session = tf.Session()
    session.run(iterator.initializer)
    assert session.run(following) == 1
    waiting = threading.Thread(target=run)
    waiting.start()
    # Whether the run has come to wait by then or not, closing the session ends it.
    session.close()
    waiting.join(10)
    assert not waiting.is_alive()
    assert len(errors) == 1


def test_a_step_that_waits_too_long_for_an_element_times_out(blocked):
    iterator, following = blocked
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(following)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(following, options=tf.RunOptions(timeout_in_ms=100))


def test_a_prefetching_thread_ends_with_its_session():
    # Those of the tests before end once nothing refers to their datasets.
    gc.collect()
    _wait_until(lambda: not _prefetching())
    with tf.Graph().as_default():
        iterator = DS.range(10**9).prefetch(2).make_initializable_iterator()
        following = iterator.get_next()
        with tf.Session() as session:
            session.run(iterator.initializer)
            assert session.run(following) == 0
            assert len(_prefetching()) == 1
            # Beginning anew ends the thread of the iteration before.
            session.run(iterator.initializer)
            assert session.run(following) == 0
            _wait_until(lambda: len(_prefetching()) == 1)
        del session, iterator, following
    gc.collect()
    _wait_until(lambda: not _prefetching())


def test_steps_of_many_threads_share_the_elements_out():
    with tf.Graph().as_default():
        following = DS.range(300).map(lambda x: x + 1, num_parallel_calls=4).prefetch(3).make_one_shot_iterator().get_next()
        found = []

        def take():
            try:
                while True:
                    found.append(int(session.run(following)))
            except tf.errors.OutOfRangeError:
                pass

        with tf.Session() as session:
            threads = [threading.Thread(target=take) for _ in range(5)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
    assert sorted(found) == list(range(1, 301))


def test_a_parallel_map_calls_its_function_at_the_same_time_and_keeps_the_order():
    together = threading.Barrier(3, timeout=20)

    def meet(value):
        together.wait()
        return value

    with tf.Graph().as_default():
        dataset = DS.range(6).map(lambda x: tf.py_func(meet, [x], tf.int64), num_parallel_calls=3)
        following = dataset.make_one_shot_iterator().get_next()
        with tf.Session() as session:
            assert [session.run(following) for _ in range(6)] == list(range(6))


def test_maps_in_functions_of_maps_do_not_wait_for_each_other_in_a_full_pool():
    with tf.Graph().as_default():

        def inner(x):
            return DS.range(3).map(lambda y: x + y, num_parallel_calls=8).reduce(tf.constant(0, tf.int64), lambda a, b: a + b)

        dataset = DS.range(200).map(inner, num_parallel_calls=100).batch(200)
        following = dataset.make_one_shot_iterator().get_next()
        with tf.Session() as session:
            assert session.run(following).tolist() == [3 * x + 3 for x in range(200)]


def test_an_error_of_an_element_comes_in_its_place():
    with tf.Graph().as_default():
        dataset = DS.range(4).map(lambda x: tf.check_numerics(1.0 / tf.cast(1 - x, tf.float32), "bad"), num_parallel_calls=2)
        following = dataset.prefetch(2).make_one_shot_iterator().get_next()
        with tf.Session() as session:
            assert session.run(following) == 1.0
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"bad[\s\S]*element 1 of ParallelMapDataset"):
                session.run(following)
            assert session.run(following) == -1.0


@pytest.fixture
def handed_over(monkeypatch):
    """The tasks that maps hand to threads of the pool."""
    tasks = []
    submit = pool.POOL.submit
    monkeypatch.setattr(pool.POOL, "submit", lambda task: (tasks.append(task), submit(task)))
    return tasks


def _mapped(function):
    with tf.Graph().as_default():
        following = DS.range(100).map(function, num_parallel_calls=4).batch(100).make_one_shot_iterator().get_next()
        with tf.Session() as session:
            return session.run(following).tolist()


def test_a_parallel_map_makes_short_calls_that_only_compute_where_it_is_asked(handed_over, monkeypatch):
    monkeypatch.setattr(pool, "_QUICK_S", math.inf)
    assert _mapped(lambda x: x + 1) == list(range(1, 101))
    assert handed_over == []


def test_a_parallel_map_hands_long_calls_over_but_for_the_first_few(handed_over, monkeypatch):
    monkeypatch.setattr(pool, "_QUICK_S", 0.0)
    assert _mapped(lambda x: x + 1) == list(range(1, 101))
    assert len(handed_over) == 96  # the first four are made to see how long they take


@pytest.mark.parametrize("stateful", [True, False])
@pytest.mark.parametrize("condition", [None, tf.greater_equal], ids=["plain", "in a branch"])
def test_a_parallel_map_hands_calls_over_that_may_wait(handed_over, monkeypatch, stateful, condition):
    monkeypatch.setattr(pool, "_QUICK_S", math.inf)

    def called(x):
        return tf.py_func(lambda value: value + 1, [x], tf.int64, stateful=stateful)

    def function(x):
        return called(x) if condition is None else tf.cond(condition(x, 0), lambda: called(x), lambda: x)

    assert _mapped(function) == list(range(1, 101))
    assert len(handed_over) == 100
