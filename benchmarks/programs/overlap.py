"""A two-layer backward pass whose gradients go to a parameter server: sent as they are ready, and all at the end."""

from __future__ import annotations

import re
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.children import Children
from benchmarks.cluster import free_addresses, server_here, start_server
from benchmarks.framework import framework

PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"
BATCH, WARM_UP_STEPS = 256, 10
TURNS, TURN_S = 9, 0.7
# TensorFlow puts what a node allocated before its name: `[mklcpu 4.0MB 4.0MB] forward1 = ...`.
_ALLOCATED = re.compile(r"^\[[^]]*\] ")


@dataclass(frozen=True)
class Span:
    """When something happened in a traced step, in seconds from the step's beginning."""

    device: str
    what: str
    begin_s: float
    end_s: float


@dataclass(frozen=True)
class Overlap:
    """The events of a traced step, and the seconds of a step with gradients sent early and sent together."""

    spans: list[Span]
    early_s: float
    together_s: float


def two_layers(width: int) -> Overlap:
    """Trace a step of two square layers of `width`, then time both ways of sending in turns."""
    with _session(width) as (session, early, together):
        for _ in range(WARM_UP_STEPS):
            session.run(early)
            session.run(together)
        seconds: dict[Any, list[float]] = {early: [], together: []}
        for _ in range(TURNS):
            for step, turns in seconds.items():
                turns.append(_seconds_per_step(lambda step=step: session.run(step)))  # type: ignore[misc]
        early_s, together_s = (statistics.median(turns) for turns in seconds.values())
        return Overlap(_traced(session, early), early_s, together_s)


@contextmanager
def _session(width: int) -> Iterator[tuple[Any, Any, Any]]:
    """Yield a session and two training steps; the second waits for all gradients before it sends any, by `tf.tuple`."""
    tf = framework()
    cluster = free_addresses(ps=1, worker=1)
    with Children() as children:
        start_server(children, cluster, "ps")
        server = server_here(cluster, "worker", 0)
        with tf.device(PS):
            small = tf.random_normal_initializer(stddev=0.01, seed=1)
            weights = [tf.get_variable(f"layer{i}", [width, width], initializer=small) for i in (1, 2)]
            x = tf.get_variable("x", [BATCH, width], initializer=tf.ones_initializer(), trainable=False)
        with tf.device(WORKER):
            hidden = tf.nn.relu(tf.matmul(x, weights[0], name="forward1"), name="relu")
            loss = tf.reduce_mean(tf.square(tf.matmul(hidden, weights[1], name="forward2")))
            gradients = tf.gradients(loss, weights, name="backward")
            optimizer = tf.train.GradientDescentOptimizer(0.01)
            early = optimizer.apply_gradients(zip(gradients, weights, strict=True), name="early")
            together = optimizer.apply_gradients(zip(tf.tuple(gradients), weights, strict=True), name="together")
        with tf.Session(server.target) as session:
            session.run(tf.global_variables_initializer())
            yield session, early, together


def _seconds_per_step(step: Callable[[], object]) -> float:
    started = now = time.perf_counter()
    steps = 0
    while now - started < TURN_S:
        step()
        steps += 1
        now = time.perf_counter()
    return (now - started) / steps


def _traced(session: Any, step: Any) -> list[Span]:
    tf = framework()
    metadata = tf.RunMetadata()
    session.run(step, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    events = [(stats.device, node) for stats in metadata.step_stats.dev_stats for node in stats.node_stats]
    beginning = min(node.all_start_micros for _, node in events if node.all_start_micros)
    return [_span(device, node, beginning) for device, node in events]


def _span(device: str, node: Any, beginning_us: int) -> Span:
    begin_us = node.all_start_micros - beginning_us
    what = node.timeline_label or node.node_name
    if node.node_name != "RecvTensor":
        what = _ALLOCATED.sub("", what)
    return Span(device, what, begin_us / 1e6, (begin_us + max(node.all_end_rel_micros, 0)) / 1e6)
