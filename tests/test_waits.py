"""Whoever waits is told for whom: a row for each way to wait for a file, a dataset's element or a batch."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from tests.told_waits import ToldWaits, told_soon


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[ToldWaits]:
    yield from told_soon(monkeypatch, ToldWaits())


def run_next(dataset: tf.data.Dataset) -> None:
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        session.run(element)


def run(fetch: object) -> None:
    with tf.Session() as session:
        session.run(fetch)


def saved(path: str, suffix: str) -> Callable[[], None]:
    """Save a variable, put a pipe in the place of one of the checkpoint's files, and restore."""
    tf.get_variable("v", [1000])
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        prefix = saver.save(session, path + ".model", write_meta_graph=False)
    os.replace(path, prefix + suffix)

    def restore() -> None:
        with tf.Session() as session:
            saver.restore(session, prefix)

    return restore


def latest(path: str) -> None:
    os.replace(path, os.path.join(os.path.dirname(path), "checkpoint"))
    tf.train.latest_checkpoint(os.path.dirname(path))


READS = {
    "GFile.read": lambda path: tf.gfile.GFile(path).read(),
    "read_file": lambda path: run(tf.read_file(path)),
    "TextLineDataset": lambda path: run_next(tf.data.TextLineDataset(path)),
    "TFRecordDataset behind a prefetch": lambda path: run_next(tf.data.TFRecordDataset(path).prefetch(1)),
    "tf_record_iterator": lambda path: next(tf.python_io.tf_record_iterator(path)),
    "latest_checkpoint": latest,
    "restore, the index": lambda path: saved(path, ".index")(),
}
WRITES = {
    "TFRecordWriter": lambda path: tf.python_io.TFRecordWriter(path).close(),
    "write_file": lambda path: run(tf.write_file(path, "x")),
    "GFile.write": lambda path: tf.gfile.GFile(path, "w").write("x"),
}


@pytest.mark.filterwarnings("ignore:.*make_one_shot_iterator")
@pytest.mark.parametrize(("act", "other_end"), [
    *[pytest.param(act, os.O_WRONLY, id=name) for name, act in READS.items()],
    *[pytest.param(act, os.O_RDONLY, id=name) for name, act in WRITES.items()],
])  # fmt: skip
def test_a_file_that_does_not_answer_is_named(
    act: Callable[[str], object], other_end: int, told: ToldWaits, tmp_path: Path
) -> None:
    path = str(tmp_path / "stuck")
    os.mkfifo(path)

    def open_the_other_end(text: str) -> None:
        (pipe,) = [found for found in tmp_path.iterdir() if found.is_fifo()]
        while f"about {pipe} for" in text:
            # Who is told of may not have come to open it yet.
            with contextlib.suppress(OSError):
                os.close(os.open(pipe, other_end | os.O_NONBLOCK))
                return

    told.about = "^The file system has not answered about"
    told.let_go = open_the_other_end
    with tf.Graph().as_default(), contextlib.suppress(tf.errors.OpError, StopIteration, ValueError):
        act(path)
    assert any(str(tmp_path) in text and "Look whether its disk answers" in text for text in told.texts), told.texts


def ones(told: ToldWaits) -> Callable[[], Iterator[int]]:
    """A generator that gives elements until a line has come."""

    def generate() -> Iterator[int]:
        while not told.came.is_set():
            yield 1

    return generate


DATASETS = {
    "shuffle": (lambda ones: ones.shuffle(10**9), r"So far shuffle has \d+ of 1000000000 elements\. "),
    "batch": (lambda ones: ones.batch(10**9), r"So far batch has \d+ of 1000000000 elements\. "),
    "padded_batch": (lambda ones: ones.padded_batch(10**9, []), r"So far batch has \d+ of 1000000000 elements\. "),
    "filter": (lambda ones: ones.filter(lambda x: x > 1), r"So far filter has looked at \d+ elements\. "),
    "skip": (lambda ones: ones.skip(10**9), r"So far \d+ more elements are left out first\. "),
    "both": (
        lambda ones: ones.filter(lambda x: x > 0).batch(10**9).repeat(2).prefetch(1),
        r"So far batch has \d+ of 1000000000 elements, filter has looked at \d+ elements\. ",
    ),
}


@pytest.mark.filterwarnings("ignore:.*make_one_shot_iterator")
@pytest.mark.parametrize(("make", "progress"), DATASETS.values(), ids=DATASETS)
def test_an_element_that_takes_long_is_told_of_with_how_far_it_is(
    make: Callable[[tf.data.Dataset], tf.data.Dataset], progress: str, told: ToldWaits
) -> None:
    told.about = "has waited for the next element"
    with tf.Graph().as_default(), contextlib.suppress(tf.errors.OutOfRangeError):
        element = make(tf.data.Dataset.from_generator(ones(told), tf.int32, [])).make_one_shot_iterator().get_next("image")
        with tf.Session() as session:
            session.run(element)
    text = told.texts[0]
    assert re.match(r"IteratorGetNext 'image' \(test_waits\.py:\d+\) has waited for the next element of the iterator '", text)
    assert re.search(progress, text), text
    assert text.endswith("Dataset.prefetch works ahead.")


def keras_model() -> tf.keras.Model:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    return model


def test_a_generator_of_batches_that_stands_still_is_told_of(told: ToldWaits) -> None:
    def rows() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        told.came.wait(20)
        yield np.ones((2, 2)), np.ones((2, 1))

    told.about = "^The generator .*rows"
    with tf.Graph().as_default():
        keras_model().fit(rows(), steps_per_epoch=1, verbose=0)
    assert re.search(r"rows \(test_waits\.py:\d+\) has worked at a batch for \d+ s\. The model waits", told.texts[0])


def test_a_sequence_that_stands_still_is_told_of(told: ToldWaits) -> None:
    class Rows(tf.keras.utils.Sequence):
        def __len__(self) -> int:
            return 1

        def __getitem__(self, index: int) -> np.ndarray:
            told.came.wait(20)
            return np.ones((2, 2))

    told.about = r"Rows\.__getitem__"
    with tf.Graph().as_default():
        keras_model().predict(Rows())
    assert re.search(r"__getitem__ \(test_waits\.py:\d+\) has worked at a batch for \d+ s\. The model waits", told.texts[0])
