"""Compile a step, then fork: the child's first step must fail at once and name the remedy."""

from __future__ import annotations

from multiprocessing import get_context

import weft as tf


def child() -> None:
    tf.reset_default_graph()
    try:
        run_until_compiled()
    except RuntimeError as error:
        print("child: RuntimeError:", "spawn" if "spawn" in str(error) else error)


def run_until_compiled() -> None:
    x = tf.ones([256, 256])
    product = tf.reduce_sum(tf.nn.softmax(tf.matmul(x, x)))
    with tf.Session() as session:
        for _ in range(50):
            session.run(product)


if __name__ == "__main__":
    run_until_compiled()
    process = get_context("fork").Process(target=child)
    process.start()
    process.join(20)
    print("child ended with", process.exitcode)
    if process.exitcode is None:
        process.kill()
