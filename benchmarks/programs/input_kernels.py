"""CPU time of the ops that read text and examples, per item of a batch of 256.

A step runs each op eight times, on string variables, so that the session's own cost is shared and nothing can be folded.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.framework import framework
from benchmarks.programs.films import example, features
from benchmarks.timing import Sample, cpu_seconds_per_call

BATCH, COPIES = 256, 8


def parse_example() -> Sample:
    """A record of three numbers, a word, a list of words and a label."""
    tf = framework()
    return _per_item(example, lambda texts: tf.parse_example(texts, features(tf))["age"])


def decode_csv() -> Sample:
    """A line of eight floats, an integer and a name."""
    tf = framework()
    defaults: list[list[Any]] = [*[[0.0]] * 8, [0], [""]]

    def line(source: random.Random) -> bytes:
        fields = [f"{source.uniform(-100, 100):.4f}" for _ in range(8)]
        return ",".join([*fields, str(source.randrange(1000)), f"name{source.randrange(100)}"]).encode()

    return _per_item(line, lambda texts: tf.decode_csv(texts, defaults)[0])


def hash_strong() -> Sample:
    """A key of ten letters into buckets, by the keyed hash."""
    tf = framework()
    return _per_item(_key, lambda texts: tf.string_to_hash_bucket_strong(texts, 1000, [1, 2]))


def hash_fast() -> Sample:
    """A key of ten letters into buckets, by the fast hash."""
    tf = framework()
    return _per_item(_key, lambda texts: tf.string_to_hash_bucket_fast(texts, 1000))


def string_to_number() -> Sample:
    """A number of seven digits to float32."""
    tf = framework()
    return _per_item(lambda source: f"{source.uniform(-100, 100):.4f}".encode(), tf.string_to_number)


def string_split() -> Sample:
    """A sentence of eight words."""
    tf = framework()
    words = ("the", "quick", "brown", "fox", "jumps")
    return _per_item(lambda source: " ".join(source.choices(words, k=8)).encode(), lambda texts: tf.string_split(texts).indices)


def _key(source: random.Random) -> bytes:
    return f"user_{source.randrange(10**5):05d}".encode()


def _per_item(make: Callable[[random.Random], bytes], op: Callable[[Any], Any]) -> Sample:
    tf = framework()
    source = random.Random(1)
    variables = [tf.Variable(np.array([make(source) for _ in range(BATCH)], object)) for _ in range(COPIES)]
    results = [op(variable.value()) for variable in variables]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return cpu_seconds_per_call(lambda: session.run(results), items=BATCH * COPIES)
