"""How one server serves many clients: the latency of each step, and whether all of them get on alike."""

from __future__ import annotations

import statistics
import threading
import time
from typing import Any

import numpy as np

from benchmarks.channel import Channel
from benchmarks.children import Child, Children
from benchmarks.cluster import free_addresses, start_server
from benchmarks.framework import framework
from benchmarks.timing import Point, Points

# More client processes than these would mostly wait for a core; further clients are threads with sessions of their own.
PROCESSES = 8
WARM_UP_STEPS = 20
COUNTING_S = 3.0


def clients(count: int) -> Points:
    """Seconds of an assign_add by each of `count` clients: p50, p99, the longest, and the slowest client's share of the mean.

    Raises:
        AssertionError: the server's variable does not hold one for each step that a client finished.
    """
    tf = framework()
    cluster = free_addresses(local=1)
    target = f"grpc://{cluster['local'][0]}"
    with Children() as children:
        start_server(children, cluster, "local")
        total, _ = _shared_counter(tf)
        with tf.Session(target) as session:
            session.run(tf.global_variables_initializer())
            seconds_by_client = _step_times(_start(children, target, count))
            held = int(session.run(total))
    finished = sum(WARM_UP_STEPS + len(each) for each in seconds_by_client)
    if held != finished:
        raise AssertionError(f"the clients finished {finished} steps, the server's variable counts {held}")
    return Points([Point(count, _figures(seconds_by_client))])


def _figures(seconds_by_client: list[list[float]]) -> dict[str, float]:
    counts = [len(each) for each in seconds_by_client]
    p50, p99, longest = np.percentile(np.concatenate(seconds_by_client), [50, 99, 100])
    share = min(counts) / statistics.fmean(counts)
    return {"p50": float(p50), "p99": float(p99), "longest": float(longest), "slowest_share": share}


def _shared_counter(tf: Any) -> tuple[Any, Any]:
    """Return the variable that all clients share, and the update that each of them runs."""
    total = tf.Variable(0, dtype=tf.int64, name="total")
    return total, tf.assign_add(total, tf.constant(1, tf.int64)).op


def _start(children: Children, target: str, count: int) -> list[Child]:
    """Start so many clients, spread over the processes."""
    processes = min(count, PROCESSES)
    shares = [count // processes + (index < count % processes) for index in range(processes)]
    return [children.start("benchmarks.programs.growth_of_clients:take_steps", target=target, clients=n) for n in shares]


def _step_times(processes: list[Child]) -> list[list[float]]:
    """Let all clients go on together; return each one's seconds per step."""
    for process in processes:
        process.hear()
    for process in processes:
        process.tell(seconds=COUNTING_S)
    return [client for process in processes for client in process.hear()["clients"]]


def take_steps(channel: Channel, target: str, clients: int) -> None:
    """A child's role: open a session for each client; when told, note how long each of their steps takes."""
    tf = framework()
    _, update = _shared_counter(tf)
    sessions = [tf.Session(target) for _ in range(clients)]
    for session in sessions:
        for _ in range(WARM_UP_STEPS):
            session.run(update)
    channel.send(ready=True)
    message = channel.receive()
    if message is None:
        return
    seconds: list[list[float]] = [[] for _ in sessions]
    ends_at = time.perf_counter() + message["seconds"]
    threads = [
        threading.Thread(target=_note_steps, args=(session, update, ends_at, noted))
        for session, noted in zip(sessions, seconds, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    channel.send(clients=seconds)
    channel.receive()


def _note_steps(session: Any, update: Any, ends_at: float, noted: list[float]) -> None:
    """Take steps until the time is over; a step that is under way then is finished and counts."""
    now = time.perf_counter()
    while now < ends_at:
        started = now
        session.run(update)
        now = time.perf_counter()
        noted.append(now - started)
