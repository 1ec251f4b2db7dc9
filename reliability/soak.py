"""A soak: a cluster in use for minutes, whose memory and latency must be as steady at the end as they were."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from typing import Any, Final

import numpy as np

import weft as tf
from reliability.leaks import footprint
from reliability.leaks.processes import Process, free_cluster, say, serve, wait_for_any

SAMPLE_S: Final = 10.0
# Of the run's first third nothing is asked: memories fill up to their limits, code is compiled.
_MAX_GROWTH_BYTES: Final = 24 << 20
_MAX_MORE_THREADS: Final = 6
# Of the quietest ten seconds of each part, and of processor time: other work on the machine makes single steps, and whole
# minutes, several times as slow (a median of 9.5 ms over a third that had samples of 3 ms), but what grows is in every step.
_MAX_SLOWER: Final = 1.5
_MAX_MORE_CPU: Final = 1.25
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
    cpu_s: float
    """Processor time of all processes since the last sample."""


def run(minutes: float, seed: int) -> list[Sample]:
    """Run the soak; blocks. For a process without threads."""
    cluster = free_cluster()
    processes = {"ps": serve(cluster, "ps"), "worker": serve(cluster, "worker")}
    target = f"grpc://{cluster['worker'][0]}"
    samples: list[Sample] = []
    used: dict[str, float] = {}
    try:
        for index in range(_CLIENTS):
            processes[f"client {index}"] = Process(lambda pipe, index=index: _use(pipe, target, index, seed))  # type: ignore[misc]
        began = time.monotonic()
        while time.monotonic() < began + minutes * 60:
            time.sleep(SAMPLE_S)
            samples.append(_sample(processes, time.monotonic() - began, used))
            print(line(samples[-1]), file=sys.stderr, flush=True)
    finally:
        # The clients first: those of a cluster that is gone fail, and say so.
        for process in reversed(processes.values()):
            process.kill()
    return samples


def _sample(processes: dict[str, Process], at_s: float, used: dict[str, float]) -> Sample:
    """Ask all processes; `used` has the processor time of each up to the last sample, and up to this one in the end."""
    taken, threads, steps, cpu_s = {}, {}, [], 0.0
    for name, process in processes.items():
        process.pipe.send_bytes(b"footprint")
        if not wait_for_any([process], 60.0):
            raise TimeoutError(f"{name} says nothing any more")
        told = process.hear()
        taken[name], threads[name] = told["resident_bytes"], told["threads"]
        steps += told.get("steps", [])
        cpu_s += told["cpu_s"] - used.get(name, 0.0)
        used[name] = told["cpu_s"] + told["own_cpu_s"]
    return Sample(at_s, taken, threads, len(steps), statistics.median(steps), max(steps), cpu_s)


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
            say(pipe, **asdict(footprint.take()), steps=durations)
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
        f"{sample.worst_s * 1000:.0f} ms, {_cpu_s([sample]) * 1000:.2f} ms of processor time; MiB: {held}; "
        f"threads {sum(sample.threads.values())}"
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
        more = min(each.threads[name] for each in last) - min(each.threads[name] for each in middle)
        if more > _MAX_MORE_THREADS:
            found.append(f"{name} has {more} more threads")
    for what, part_s, limit in (
        ("at the quietest time", lambda part: min(each.median_s for each in part), _MAX_SLOWER),
        ("of processor time", _cpu_s, _MAX_MORE_CPU),
    ):
        before_s, after_s = part_s(middle), part_s(last)
        if after_s > before_s * limit:
            found.append(f"steps take {after_s * 1000:.2f} ms {what}, {before_s * 1000:.2f} ms before")
    return found


def _cpu_s(samples: Sequence[Sample]) -> float:
    """Processor time of a step, in all processes."""
    return sum(each.cpu_s for each in samples) / sum(each.steps for each in samples)


def text(samples: list[Sample]) -> str:
    """The run for a reader: the start, the middle, the end."""
    shown = [samples[0], samples[len(samples) // 2], samples[-1]]
    steps = sum(each.steps for each in samples)
    third = len(samples) // 3
    parts = [part for part in (samples[:third], samples[third : 2 * third], samples[2 * third :]) if part]
    quiet = ", ".join(f"{min(each.median_s for each in part) * 1000:.2f}" for part in parts)
    used = ", ".join(f"{_cpu_s(part) * 1000:.2f}" for part in parts)
    told = "; ".join(problems(samples)) or "memory and latency are steady"
    thirds = f"a step in each third: {quiet} ms at the quietest time, {used} ms of processor time"
    return "\n".join([*(line(each) for each in shown), thirds, f"{steps} steps in {samples[-1].at_s / 60:.1f} minutes: {told}"])
