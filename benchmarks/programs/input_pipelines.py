"""CPU time of whole input pipelines, per record: from a TFRecord file to parsed batches of 128, shuffled among 2,000."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.framework import framework, have_code_made_beside_steps
from benchmarks.programs.films import example, features
from benchmarks.timing import Sample, cpu_seconds_per_call

BATCH, RECORDS, SHUFFLED = 128, 20_000, 2000


def queue_pipeline() -> Sample:
    """Queue runners read record by record into `shuffle_batch`; each batch is parsed."""
    tf = framework()
    with tempfile.TemporaryDirectory() as directory:
        names = tf.train.string_input_producer([_written(tf, directory)])
        _, record = tf.TFRecordReader().read(names)
        batch = tf.train.shuffle_batch([record], BATCH, SHUFFLED, SHUFFLED // 2)
        return _fed_by_queues(tf, tf.parse_example(batch, features(tf))["age"])


def image_pipeline() -> Sample:
    """Sixteen queue runners read raw images of 32x32 and distort them, as CIFAR-10's tutorial does."""
    have_code_made_beside_steps()
    tf = framework()
    with tempfile.TemporaryDirectory() as directory:
        image, label = _distorted(tf, _images(directory))
        return _fed_by_queues(tf, tf.train.shuffle_batch([image, label], BATCH, SHUFFLED, SHUFFLED // 2, num_threads=16))


def dataset_pipeline() -> Sample:
    """A dataset shuffles, repeats, batches and parses."""
    tf = framework()
    with tempfile.TemporaryDirectory() as directory:
        records = tf.data.TFRecordDataset(_written(tf, directory)).shuffle(SHUFFLED).repeat().batch(BATCH)
        parsed = records.map(lambda texts: tf.parse_example(texts, features(tf))).prefetch(2)
        age = tf.data.make_one_shot_iterator(parsed).get_next()["age"]
        with tf.Session() as session:
            return cpu_seconds_per_call(lambda: session.run(age), items=BATCH)


def _fed_by_queues(tf: Any, batch: Any) -> Sample:
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        sample = cpu_seconds_per_call(lambda: session.run(batch), items=BATCH)
        coordinator.request_stop()
    coordinator.join(threads, stop_grace_period_secs=10)
    return sample


def _images(directory: str) -> str:
    path = str(Path(directory) / "images.bin")
    Path(path).write_bytes(random.Random(1).randbytes(3073 * 2000))
    return path


def _distorted(tf: Any, path: str) -> tuple[Any, Any]:
    """An image of [24, 24, 3] and its label, out of a byte of label and three planes of 32x32."""
    record = tf.FixedLengthRecordReader(3073).read(tf.train.string_input_producer([path])).value
    values = tf.decode_raw(record, tf.uint8)
    label = tf.cast(tf.strided_slice(values, [0], [1]), tf.int32)
    planes = tf.reshape(tf.strided_slice(values, [1], [3073]), [3, 32, 32])
    image = tf.random_crop(tf.cast(tf.transpose(planes, [1, 2, 0]), tf.float32), [24, 24, 3])
    image = tf.image.random_brightness(tf.image.random_flip_left_right(image), 63)
    image = tf.image.per_image_standardization(tf.image.random_contrast(image, 0.2, 1.8))
    image.set_shape([24, 24, 3])
    label.set_shape([1])
    return image, label


def _written(tf: Any, directory: str) -> str:
    path, source = str(Path(directory) / "films.tfrecord"), random.Random(1)
    with tf.python_io.TFRecordWriter(path) as writer:
        for _ in range(RECORDS):
            writer.write(example(source))
    return path
