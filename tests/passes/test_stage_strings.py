"""Strings never reach the compiler, however often they are used."""

from __future__ import annotations

import weft as tf


def test_ops_on_strings_run_on_the_host_every_time() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        name = tf.placeholder(tf.string, [])
        joined = tf.reshape(tf.stack([name, tf.identity(name), tf.constant("c")]), [3, 1])
        for _ in range(12):
            assert session.run(joined, {name: b"a\0b"}).tolist() == [[b"a\0b"], [b"a\0b"], [b"c"]]
