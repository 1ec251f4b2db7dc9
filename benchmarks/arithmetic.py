"""The rate of the machine's arithmetic: products of 2048 x 2048 float32 matrices by XLA.

XLA is asked because it is faster here than NumPy, and a limit must not be beaten by what it limits.
"""

from __future__ import annotations

import time

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.channel import Channel

SIZE = 2048
PRODUCTS = 20


def multiply(channel: Channel) -> None:
    """A child's role: tell the operations per second of the fastest of several products."""
    matrix = jax.device_put(np.ones((SIZE, SIZE), np.float32), jax.devices("cpu")[0])
    product = jax.jit(jnp.matmul)
    seconds: list[float] = []
    for _ in range(PRODUCTS):
        started = time.perf_counter()
        product(matrix, matrix).block_until_ready()
        seconds.append(time.perf_counter() - started)
    channel.send(rate=2 * SIZE**3 / min(seconds))
