"""The MNIST digits of the tutorials: read from files that are there, given out in batches."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.examples.tutorials.mnist import input_data


def _write(directory: Path, images: str, labels: str, count: int) -> None:
    pixels = (np.arange(count * 28 * 28) % 251).astype(np.uint8)
    (directory / images).write_bytes(gzip.compress(struct.pack(">4I", 2051, count, 28, 28) + pixels.tobytes()))
    digits = (np.arange(count) % 10).astype(np.uint8)
    (directory / labels).write_bytes(gzip.compress(struct.pack(">2I", 2049, count) + digits.tobytes()))


@pytest.fixture
def directory(tmp_path: Path) -> str:
    _write(tmp_path, input_data.TRAIN_IMAGES, input_data.TRAIN_LABELS, 30)
    _write(tmp_path, input_data.TEST_IMAGES, input_data.TEST_LABELS, 10)
    return str(tmp_path)


def _read(directory: str, **kwargs: Any) -> Any:
    return tf.examples.tutorials.mnist.input_data.read_data_sets(directory, validation_size=5, **kwargs)


def test_images_are_rows_between_zero_and_one_and_labels_numbers(directory: str) -> None:
    mnist = _read(directory)
    assert (mnist.train.num_examples, mnist.validation.num_examples, mnist.test.num_examples) == (25, 5, 10)
    assert mnist.train.images.shape == (25, 784)
    assert mnist.train.images.dtype == np.float32
    assert 0 <= mnist.train.images.min() < mnist.train.images.max() <= 1
    assert mnist.validation.labels.tolist() == [0, 1, 2, 3, 4]


def test_the_files_are_named_as_they_are_read(directory: str, capsys: pytest.CaptureFixture[str]) -> None:
    _read(directory)
    lines = capsys.readouterr().out.splitlines()
    names = [input_data.TRAIN_IMAGES, input_data.TRAIN_LABELS, input_data.TEST_IMAGES, input_data.TEST_LABELS]
    assert lines == [f"Extracting {directory}/{name}" for name in names]


def test_labels_may_have_a_one_per_class(directory: str) -> None:
    labels = _read(directory, one_hot=True).test.labels
    np.testing.assert_array_equal(labels, np.eye(10))


def test_images_may_stay_as_they_are(directory: str) -> None:
    images = _read(directory, reshape=False, dtype=tf.uint8).test.images
    assert images.shape == (10, 28, 28, 1)
    assert images.dtype == np.uint8


def test_an_epoch_gives_every_example_once_and_runs_over_into_the_next(directory: str) -> None:
    train = _read(directory, seed=1).train
    rows = [tuple(row) for _ in range(5) for row in train.next_batch(5)[0]]
    assert len(set(rows)) == 25
    assert train.epochs_completed == 0
    train.next_batch(3)
    assert train.epochs_completed == 1
    images, labels = train.next_batch(24)
    assert len(images) == len(labels) == 24
    assert train.epochs_completed == 2


def test_the_same_seed_gives_the_same_batches(directory: str) -> None:
    first, second = (_read(directory, seed=7).train.next_batch(10)[1] for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_batches_without_shuffling_come_in_order(directory: str) -> None:
    train = _read(directory).train
    assert train.next_batch(5, shuffle=False)[1].tolist() == [5, 6, 7, 8, 9]


def test_fake_data_need_no_files() -> None:
    images, labels = input_data.read_data_sets("", fake_data=True, one_hot=True).train.next_batch(2)
    assert images == [[1] * 784] * 2
    assert labels == [[1] + [0] * 9] * 2


def test_missing_files_are_named_with_where_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.NotFoundError, match=r"train-images-idx3-ubyte\.gz does not exist.*https://"):
        input_data.read_data_sets(str(tmp_path))


def test_a_file_of_another_kind_is_refused(directory: str) -> None:
    path = Path(directory) / input_data.TRAIN_IMAGES
    path.write_bytes(gzip.compress(struct.pack(">4I", 2049, 0, 28, 28)))
    with pytest.raises(ValueError, match="Invalid magic number 2049 in MNIST image file"):
        _read(directory)


def test_the_validation_set_cannot_exceed_the_training_images(directory: str) -> None:
    with pytest.raises(ValueError, match="between 0 and 30"):
        input_data.read_data_sets(directory)


def test_the_model_learns(directory: str) -> None:
    model = tf.examples.tutorials.mnist.mnist
    train = _read(directory, seed=3).train
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        images, labels = tf.placeholder(tf.float32, [None, model.IMAGE_PIXELS]), tf.placeholder(tf.int32, [None])
        logits = model.inference(images, 16, 8)
        loss = model.loss(logits, labels)
        step = model.training(loss, 0.1)
        correct = model.evaluation(logits, labels)
        feed = dict(zip((images, labels), train.next_batch(25), strict=True))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            before = session.run(loss, feed)
            for _ in range(20):
                session.run(step, feed)
            after, count = session.run([loss, correct], feed)
    assert after < before
    assert 0 <= count <= 25
