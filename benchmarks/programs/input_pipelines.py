"""CPU time of whole input pipelines, per record: from a TFRecord file to parsed batches of 128, shuffled among 2,000."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.framework import framework
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
        parsed = tf.parse_example(batch, features(tf))["age"]
        with tf.Session() as session:
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            sample = cpu_seconds_per_call(lambda: session.run(parsed), items=BATCH)
            coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=10)
    return sample


def dataset_pipeline() -> Sample:
    """A dataset shuffles, repeats, batches and parses."""
    tf = framework()
    with tempfile.TemporaryDirectory() as directory:
        records = tf.data.TFRecordDataset(_written(tf, directory)).shuffle(SHUFFLED).repeat().batch(BATCH)
        parsed = records.map(lambda texts: tf.parse_example(texts, features(tf))).prefetch(2)
        age = tf.data.make_one_shot_iterator(parsed).get_next()["age"]
        with tf.Session() as session:
            return cpu_seconds_per_call(lambda: session.run(age), items=BATCH)


def _written(tf: Any, directory: str) -> str:
    path, source = str(Path(directory) / "films.tfrecord"), random.Random(1)
    with tf.python_io.TFRecordWriter(path) as writer:
        for _ in range(RECORDS):
            writer.write(example(source))
    return path
