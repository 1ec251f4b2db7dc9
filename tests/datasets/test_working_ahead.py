"""Who makes the elements of a dataset: a thread beforehand, a thread of the pool, or the step that asks for them."""

import os
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from weft.ops.data import prefetching
from weft.ops.data.batching import BatchIterator
from weft.ops.data.element import ElementIterator
from weft.ops.data.iterator_state import IteratorState
from weft.ops.data.mapping import FilterIterator
from weft.ops.data.working_ahead import ELEMENTS, WINDOWS, WorkingAhead

DS = tf.data.Dataset


class _Clock:
    """A clock that goes on when it is told to."""

    now_s = 0.0

    def __call__(self):
        return self.now_s


class _Pace:
    """A choice, and the time that elements take to those who take them."""

    def __init__(self, only_computes=True):
        self._clock = _Clock()
        self.only_computes = only_computes
        self.choice = WorkingAhead(lambda: self.only_computes, self._clock)

    def take(self, ahead_s, here_s, windows):
        """How many of so many windows of elements the thread makes."""
        ahead = 0
        for _ in range(windows):
            ahead += self.choice.is_ahead
            for _ in range(ELEMENTS):
                self._clock.now_s += ahead_s if self.choice.is_ahead else here_s
                self.choice.note()
        return ahead


def test_a_thread_that_saves_nothing_works_ahead_ever_more_rarely():
    pace = _Pace()
    assert pace.take(0.001, 0.001, 20) < 20
    assert pace.take(0.001, 0.001, 400) <= 10 * WINDOWS
    assert not pace.choice.is_ahead


def test_a_thread_that_saves_time_goes_on():
    pace = _Pace()
    assert pace.take(0.001, 0.002, 400) >= 400 - 10 * WINDOWS


def test_a_thread_begins_again_when_the_step_has_more_to_do():
    pace = _Pace()
    pace.take(0.001, 0.001, 100)
    assert pace.take(2 * sys.getswitchinterval(), 2 * sys.getswitchinterval(), 10) >= 9
    assert pace.choice.is_ahead


def test_elements_that_may_be_waited_for_are_left_to_the_thread():
    assert _Pace(only_computes=False).take(0.001, 0.0005, 100) == 100


def test_elements_that_may_be_waited_for_from_now_on_go_back_to_the_thread():
    pace = _Pace()
    pace.take(0.001, 0.001, 100)
    assert not pace.choice.is_ahead
    pace.only_computes = False
    assert pace.take(0.001, 0.001, 10) == 9


class _Here:
    """A choice for whoever takes the elements."""

    is_ahead = False
    at_once = 2

    def __init__(self, only_computes):
        pass

    def note(self):
        pass


@pytest.fixture
def here(monkeypatch):
    """Prefetching datasets whose elements are made where they are asked for."""
    monkeypatch.setattr(prefetching, "WorkingAhead", _Here)


def _all(following, session):
    found = []
    while True:
        try:
            found.append(session.run(following))
        except tf.errors.OutOfRangeError:
            return found


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("limit", [1, 2, 5])
def test_elements_that_are_made_here_are_those_of_the_dataset(limit):
    with tf.Graph().as_default():
        dataset = DS.range(9).shuffle(4, seed=1).map(lambda x: x * x).prefetch(limit).batch(2)
        following = dataset.make_one_shot_iterator().get_next()
        expected = DS.range(9).shuffle(4, seed=1).map(lambda x: x * x).batch(2).make_one_shot_iterator().get_next()
        with tf.Session() as session:
            for made, wanted in zip(_all(following, session), _all(expected, session), strict=True):
                np.testing.assert_array_equal(made, wanted)
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(following)


@pytest.mark.usefixtures("here")
def test_an_error_of_an_element_that_is_made_here_comes_in_its_place():
    with tf.Graph().as_default():
        dataset = DS.range(4).map(lambda x: tf.check_numerics(1.0 / tf.cast(1 - x, tf.float32), "bad")).prefetch(3)
        following = dataset.make_one_shot_iterator().get_next()
        with tf.Session() as session:
            assert session.run(following) == 1.0
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"bad[\s\S]*element 1 of MapDataset"):
                session.run(following)
            assert [float(each) for each in _all(following, session)] == [-1.0, -0.5]


@pytest.mark.usefixtures("here")
def test_an_iterator_whose_elements_are_made_here_is_saved_and_restored(tmp_path):
    with tf.Graph().as_default():
        iterator = DS.range(9).map(lambda x: x + 1).prefetch(4).make_initializable_iterator()
        following = iterator.get_next()
        saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
        with tf.Session() as session:
            session.run(iterator.initializer)
            assert [int(session.run(following)) for _ in range(3)] == [1, 2, 3]
            path = saver.save(session, str(tmp_path / "model"))
            rest = _all(following, session)
        with tf.Session() as session:
            session.run(iterator.initializer)
            saver.restore(session, path)
            assert _all(following, session) == rest == list(range(4, 10))


@pytest.mark.usefixtures("here")
def test_the_thread_ends_with_an_iterator_whose_elements_are_made_here():
    with tf.Graph().as_default():
        following = DS.range(9).prefetch(4).make_one_shot_iterator().get_next()
        with tf.Session() as session:
            session.run(following)
            threads = [each for each in threading.enumerate() if each.name == "weft-prefetch"]
            assert threads
    for each in threads:
        each.join(10)
        assert not each.is_alive()


@pytest.fixture
def takers(monkeypatch):
    """The threads that take elements, one after the other; each element seems to come quickly."""
    found = []
    taken = IteratorState._taken

    def noting(self, elements, caller):
        found.append(threading.current_thread())
        element = taken(self, elements, caller)
        self._is_quick = True
        return element

    monkeypatch.setattr(IteratorState, "_taken", noting)
    return found


def _taken_by(dataset, takers):
    following = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        _all(following, session)
    own = threading.current_thread()
    return [taker is own for taker in takers]


@pytest.mark.parametrize(
    "make",
    [
        lambda: DS.range(6).batch(2),
        lambda: DS.from_tensor_slices(np.arange(6)).shuffle(3).repeat(2).batch(2),
        lambda: DS.range(6).map(lambda x: x + 1).apply(tf.data.experimental.take_while(lambda x: x < 4)),
        lambda: DS.zip((DS.range(3), DS.range(3).cache())),
        lambda: DS.range(6).map(lambda x: x + 1, num_parallel_calls=2),
        lambda: DS.from_tensor_slices([1, 2, 3]).flat_map(DS.from_tensors),
    ],
)
def test_quick_elements_are_made_by_the_step_that_asks_for_them(make, takers):
    with tf.Graph().as_default():
        is_own = _taken_by(make(), takers)
    assert not is_own[0]  # how long it takes nobody knows
    assert is_own[1:]
    assert all(is_own[1:])


@pytest.mark.parametrize(
    "make",
    [
        lambda: DS.range(6).map(lambda x: tf.py_func(lambda value: value, [x], tf.int64)),
        lambda: DS.range(6).filter(lambda x: tf.py_func(lambda value: value > 1, [x], tf.bool)),
        lambda: DS.from_generator(lambda: iter(range(6)), tf.int32, []).batch(2),
        lambda: DS.range(2).concatenate(DS.from_generator(lambda: iter(range(6)), tf.int64, [])),
        lambda: DS.zip((DS.range(3), DS.from_generator(lambda: iter(range(6)), tf.int64, []))),
    ],
)
def test_elements_that_run_code_of_the_program_are_not_made_by_the_step(make, takers):
    with tf.Graph().as_default():
        assert not any(_taken_by(make(), takers))


@pytest.mark.parametrize(
    "make",
    [
        lambda: DS.range(6).filter(lambda x: x > 1),
        lambda: DS.range(6).flat_map(DS.from_tensors),
        lambda: DS.range(6).batch(2).apply(tf.data.experimental.unbatch()),
        lambda: DS.range(6).map(lambda x: tf.while_loop(lambda y: y < x, lambda y: y + 1, [np.int64(0)])),
    ],
)
def test_elements_that_may_never_be_found_are_not_looked_for_by_the_step(make, takers):
    with tf.Graph().as_default():
        assert not any(_taken_by(make(), takers))


@pytest.mark.parametrize("ahead", [0, 1])
def test_a_step_that_looks_for_an_element_for_ever_is_let_go_and_so_is_its_thread(ahead):
    with tf.Graph().as_default():
        dataset = DS.range(2**62).filter(lambda x: x < 50)
        following = (dataset.prefetch(ahead) if ahead else dataset).make_one_shot_iterator().get_next()
        with tf.Session() as session:
            assert [session.run(following) for _ in range(50)] == list(range(50))
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(following, options=tf.RunOptions(timeout_in_ms=200))
    looking = FilterIterator.next.__code__
    while any(_runs(frame, looking) for frame in sys._current_frames().values()):
        threading.Event().wait(0.01)


def _runs(frame, code):
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


def test_lines_of_files_are_read_by_the_step_and_those_of_pipes_are_not(takers, tmp_path):
    names = []
    for number in range(3):
        path = tmp_path / f"lines{number}"
        path.write_text("first\nsecond\n")
        names.append(str(path))
    with tf.Graph().as_default():
        assert _taken_by(tf.data.TextLineDataset(names), takers)[1:] == [True] * 6
        takers.clear()
        pipe = str(tmp_path / "pipe")
        os.mkfifo(pipe)
        writer = threading.Thread(target=lambda: Path(pipe).write_text("third\n"), daemon=True)
        writer.start()
        # Behind the last element of a file a step reads on.
        assert _taken_by(tf.data.TextLineDataset([*names[:2], pipe]), takers) == [False, True, True, False, False, False]
        writer.join(10)


def test_an_iteration_says_that_it_may_wait_unless_it_knows_better():
    assert not ElementIterator().only_computes


def test_a_function_that_somebody_notices_is_called_for_one_dataset_after_the_other(capfd):
    def made(x):
        return DS.from_tensors(tf.Print(x, [x], "made "))

    with tf.Graph().as_default():
        following = DS.range(3).flat_map(made).make_one_shot_iterator().get_next()
        with tf.Session() as session:
            session.run(following)
            assert capfd.readouterr().err == "made [0]\n"


def test_an_interrupt_waits_until_the_element_is_made(takers, monkeypatch):
    batched, finished = BatchIterator._batch, []

    def interrupted(self, elements):
        if threading.current_thread() is threading.main_thread() and len(takers) == 2:
            os.kill(os.getpid(), signal.SIGINT)
            finished.append(threading.current_thread())
        return batched(self, elements)

    monkeypatch.setattr(BatchIterator, "_batch", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with tf.Graph().as_default():
            following = DS.range(9).shuffle(2, seed=1).map(lambda x: x + 1).batch(2).make_one_shot_iterator().get_next()
            with tf.Session() as session:
                found = [session.run(following)]
                with pytest.raises(KeyboardInterrupt):
                    session.run(following)
                found += [session.run(following) for _ in range(3)]
    finally:
        signal.signal(signal.SIGINT, before)
    assert finished == [threading.main_thread()]
    assert len(set(np.concatenate(found).tolist())) == 7
