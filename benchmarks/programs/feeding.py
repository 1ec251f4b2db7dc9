"""What feeding costs: a large array that stays the same, one that goes to another task, strings, and sparse tensors."""

from __future__ import annotations

import numpy as np

from benchmarks.children import Children
from benchmarks.cluster import free_addresses, start_server
from benchmarks.framework import framework
from benchmarks.timing import Sample, per_second, seconds_per_call

FLOATS_IN_100_MB = 25_000_000
TEXTS = 10_000


def feed_same() -> Sample:
    """Seconds to feed the same 100 MB again and fetch two numbers of them."""
    tf = framework()
    x = tf.placeholder(tf.float32, [FLOATS_IN_100_MB])
    ends = x[0] + x[-1]
    values = np.ones(FLOATS_IN_100_MB, np.float32)
    with tf.Session() as session:
        return seconds_per_call(lambda: session.run(ends, {x: values}))


def feed_remote() -> Sample:
    """Bytes per second of 100 MB that a client feeds to another process, of which it fetches two numbers."""
    tf = framework()
    cluster = free_addresses(local=1)
    x = tf.placeholder(tf.float32, [FLOATS_IN_100_MB])
    ends = x[0] + x[-1]
    values = np.ones(FLOATS_IN_100_MB, np.float32)
    with Children() as children:
        start_server(children, cluster, "local")
        with tf.Session(f"grpc://{cluster['local'][0]}") as session:
            seconds = seconds_per_call(lambda: session.run(ends, {x: values}), warm_up_calls=3)
    return per_second(seconds, values.nbytes)


def feed_strings() -> Sample:
    """Seconds to feed 10,000 words, as an array, and fetch how many they are."""
    tf = framework()
    x = tf.placeholder(tf.string, [None])
    count = tf.size(x)
    words = np.array([f"word {number}" for number in range(TEXTS)], object)
    with tf.Session() as session:
        return seconds_per_call(lambda: session.run(count, {x: words}))


def feed_sparse() -> Sample:
    """Seconds to feed a sparse tensor of 10,000 values and fetch their sums by column."""
    tf = framework()
    x = tf.sparse_placeholder(tf.float32, [TEXTS, 8])
    sums = tf.sparse_reduce_sum(x, 0)
    places = np.stack([np.arange(TEXTS), np.arange(TEXTS) % 8], axis=1)
    value = tf.SparseTensorValue(places, np.ones(TEXTS, np.float32), [TEXTS, 8])
    with tf.Session() as session:
        return seconds_per_call(lambda: session.run(sums, {x: value}))
