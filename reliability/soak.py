"""A soak: a cluster in use for minutes, whose memory and latency must be as steady at the end as they were."""

from __future__ import annotations

import statistics
import sys
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Final

import numpy as np

import weft as tf
from reliability.leaks import footprint
from reliability.leaks.processes import Process, free_cluster, say, serve, wait_for_any

SAMPLE_S: Final = 10.0
# Of the run's first third nothing is asked: memories fill up to their limits, code is compiled.
_MAX_GROWTH_BYTES: Final = 24 << 20
_MAX_SLOWER: Final = 1.5
_CLIENTS: Final = 2


@dataclass(frozen=True)
class Sample:
    """What the processes held at one time, and how long the steps since the last sample took."""

    at_s: float
    resident_bytes: dict[str, int]
    threads: dict[str, int]
    steps: int
    median_s: float
    worst_s: float


def run(minutes: float, seed: int) -> list[Sample]:
    """Run the soak; blocks. For a process without threads."""
    cluster = free_cluster()
    processes = {"ps": serve(cluster, "ps"), "worker": serve(cluster, "worker")}
    target = f"grpc://{cluster['worker'][0]}"
    samples: list[Sample] = []
    try:
        for index in range(_CLIENTS):
            processes[f"client {index}"] = Process(lambda pipe, index=index: _use(pipe, target, index, seed))  # type: ignore[misc]
        began = time.monotonic()
        while time.monotonic() < began + minutes * 60:
            time.sleep(SAMPLE_S)
            samples.append(_sample(processes, time.monotonic() - began))
            print(line(samples[-1]), file=sys.stderr, flush=True)
    finally:
        for process in processes.values():
            process.kill()
    return samples


def _sample(processes: dict[str, Process], at_s: float) -> Sample:
    taken, threads, steps = {}, {}, []
    for name, process in processes.items():
        process.pipe.send_bytes(b"footprint")
        if not wait_for_any([process], 60.0):
            raise TimeoutError(f"{name} says nothing any more")
        told = process.hear()
        taken[name], threads[name] = told["resident_bytes"], told["threads"]
        steps += told.get("steps", [])
    return Sample(at_s, taken, threads, len(steps), statistics.median(steps), max(steps))


def _use(pipe: Connection, target: str, index: int, seed: int) -> None:
    """Be a client: train a small network, put strings through a queue, and open a session anew now and then."""
    values = np.random.default_rng(seed + index)
    with tf.Graph().as_default() as graph:
        with tf.device("/job:ps/task:0"):
            weights = tf.get_variable(f"w{index}", [64, 32])
            queue = tf.FIFOQueue(100, [tf.string], shapes=[[]], shared_name=f"q{index}")
        x = tf.placeholder(tf.float32, [None, 64])
        with tf.device("/job:worker/task:0"):
            loss = tf.reduce_mean(tf.square(tf.matmul(x, weights)))
            train = tf.train.AdamOptimizer(0.01).minimize(loss)
        push, pop = queue.enqueue("x" * 100), queue.dequeue()
        init = tf.global_variables_initializer()
    session = tf.Session(target, graph=graph)
    session.run(init)
    durations: list[float] = []
    number = 0
    while True:
        number += 1
        began = time.monotonic()
        _step(session, number, {x: values.normal(size=(16, 64))}, (train, loss), push, pop)
        durations.append(time.monotonic() - began)
        if number % 500 == 0:
            session.close()
            session = tf.Session(target, graph=graph)
        if pipe.poll():
            pipe.recv_bytes()
            taken = footprint.take()
            say(pipe, resident_bytes=taken.resident_bytes, threads=taken.threads, steps=durations)
            durations = []
        time.sleep(0.002)


def _step(session: Any, number: int, feed: dict[Any, Any], train: Any, push: Any, pop: Any) -> None:
    _, loss = session.run(train, feed)
    assert np.isfinite(loss)
    if number % 5 == 0:
        session.run(push)
        assert session.run(pop) == b"x" * 100
    if number % 50 == 0:
        try:
            session.run(pop, options=tf.RunOptions(timeout_in_ms=5))
        except tf.errors.DeadlineExceededError:
            return
        raise AssertionError("the queue was not empty")


def line(sample: Sample) -> str:
    """One sample for a reader."""
    held = ", ".join(f"{name} {taken / 2**20:.0f}" for name, taken in sample.resident_bytes.items())
    return (
        f"{sample.at_s:5.0f} s: {sample.steps} steps, median {sample.median_s * 1000:.2f} ms, worst "
        f"{sample.worst_s * 1000:.0f} ms; MiB: {held}; threads {sum(sample.threads.values())}"
    )


def problems(samples: list[Sample]) -> list[str]:
    """What is worse in the last third than in the second one."""
    third = len(samples) // 3
    if not third:
        return []
    middle, last = samples[third : 2 * third], samples[2 * third :]
    found = []
    for name in middle[0].resident_bytes:
        before = statistics.median(each.resident_bytes[name] for each in middle)
        after = statistics.median(each.resident_bytes[name] for each in last)
        if after - before > _MAX_GROWTH_BYTES:
            found.append(f"{name} grew by {(after - before) / 2**20:.0f} MiB")
    before, after = (statistics.median(each.median_s for each in part) for part in (middle, last))
    if after > before * _MAX_SLOWER:
        found.append(f"steps take {after * 1000:.2f} ms, {before * 1000:.2f} ms before")
    return found


def text(samples: list[Sample]) -> str:
    """The run for a reader: the start, the middle, the end."""
    shown = [samples[0], samples[len(samples) // 2], samples[-1]]
    steps = sum(each.steps for each in samples)
    told = "; ".join(problems(samples)) or "memory and latency are steady"
    return "\n".join([*(line(each) for each in shown), f"{steps} steps in {samples[-1].at_s / 60:.1f} minutes: {told}"])
