"""What is measured, in the order of the table: its program, its unit, the ratio aimed at, and the machine's limit."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeVar

from benchmarks.machine import Limits


class Unit(Enum):
    """How a figure is printed; of seconds and bytes less is better, of rates more."""

    SECONDS = "s"
    STEPS = "steps/s"
    RATE = "B/s"
    BYTES = "B"
    SHARE = "share"

    @property
    def more_is_better(self) -> bool:
        return self in (Unit.STEPS, Unit.RATE)


@dataclass(frozen=True)
class Limit:
    """A machine limit in the unit of its measure, and what it is made of."""

    value: float
    source: str


LimitRule = Callable[[Limits], Limit]


ORIGINAL_FAMILIES = frozenset(("training_steps", "sessions", "remote_variables", "asynchronous_training"))
"""The families that are also run on TensorFlow 1.15, where an interpreter that has it is given: their goals are against the
better of both."""


@dataclass(frozen=True)
class Measure:
    """One row: `goal` is the ratio of weft to TensorFlow to reach, `time_limit_s` what a process may take.

    `least_waits` is how often a thread of the measuring process has to wait for another process at least, each step; None where
    nobody has counted.
    """

    name: str
    program: str
    title: str
    unit: Unit
    goal: float
    limit: LimitRule | None = None
    time_limit_s: float = 120.0

    @property
    def least_waits(self) -> int | None:
        return _LEAST_WAITS.get(self.name)

    @property
    def family(self) -> str:
        """The module of its program."""
        return self.program.partition(":")[0]

    def reaches_goal(self, ratio: float) -> bool:
        return ratio >= self.goal if self.unit.more_is_better else ratio <= self.goal


# A step on another task is one request and its answer, whatever it moves: the process waits once, for the answer. A local step,
# and one of the process's own server, waits for nobody.
_LEAST_WAITS = {
    **dict.fromkeys(("constant", "assign_add", "feed", "own_server"), 0),
    **dict.fromkeys(("client_only", "remote_assign", "remote_assign_fetch", "there_and_back"), 1),
    **dict.fromkeys(("pull_100x1kb", "pull_1mb", "pull_100mb", "push_100mb", "null_steps_1"), 1),
}


def _round_trips(count: int) -> LimitRule:
    return lambda limits: Limit(count * limits.unix_round_trip_s, _times(count, "Unix round trip"))


def _one_way(size_bytes: int) -> LimitRule:
    return lambda limits: Limit(limits.unix_round_trip_s + size_bytes / limits.unix_rate, "Unix socket, round trip and bytes")


def _unix_rate(limits: Limits) -> Limit:
    return Limit(limits.unix_rate, "Unix socket")


def _round_trip_rate(limits: Limits) -> Limit:
    return Limit(1 / limits.unix_round_trip_s, "Unix round trips of one client")


def _arithmetic(operations: float) -> LimitRule:
    return lambda limits: Limit(operations / limits.matmul_rate, "its arithmetic at the rate of a large matmul")


def _times(count: int, what: str) -> str:
    return what if count == 1 else f"{count} x {what}"


# Multiply-adds count two. Forward, and backward to weights and inputs, but not to the images.
_MLP_OPERATIONS = 2 * 128 * (2 * 784 * 512 + 3 * 512 * 10)
_CNN_OPERATIONS = 2 * 128 * (2 * 28 * 28 * 25 * 1 * 32 + 3 * 14 * 14 * 25 * 32 * 64 + 3 * 7 * 7 * 64 * 512 + 3 * 512 * 10)
# Of ResNet-20: 40.8 million multiplications an image forward, the first layer's three input channels aside.
_RESNET_OPERATIONS = 2 * 32 * 3 * 40_500_000

MEASURES = (
    Measure("import", "start_up:import_time", "Import", Unit.SECONDS, 0.4),
    Measure("first_run", "start_up:first_run", "First run of a three-op graph", Unit.SECONDS, 0.5),
    Measure("cluster_start", "start_up:cluster_start", "First step on 2 servers and 2 workers", Unit.SECONDS, 0.4),
    Measure("cluster_ready", "start_up:cluster_ready", "2 servers and 2 workers ready, beyond bare Python", Unit.SECONDS, 0.4),
    Measure("launched", "start_up:launched", "First step after the launch of 1 server and 2 workers", Unit.SECONDS, 0.4),
    Measure("build_node", "graph_building:build_node", "Building a node", Unit.SECONDS, 0.4),
    Measure("constant", "local_runs:constant", "Local run: constant", Unit.SECONDS, 0.5),
    Measure("assign_add", "local_runs:assign_add", "Local run: assign_add", Unit.SECONDS, 0.5),
    Measure("feed", "local_runs:feed", "Local run: feed of 100 floats", Unit.SECONDS, 0.35),
    Measure("feed_same", "feeding:feed_same", "Local run: feed of the same 100 MB", Unit.SECONDS, 0.5),
    Measure("feed_strings", "feeding:feed_strings", "Local run: feed of 10,000 words", Unit.SECONDS, 1.0),
    Measure("feed_sparse", "feeding:feed_sparse", "Local run: feed of 10,000 sparse values", Unit.SECONDS, 1.0),
    Measure("feed_remote", "feeding:feed_remote", "Feeding 100 MB to another process", Unit.RATE, 1.0, _unix_rate),
    Measure(
        "mlp_step",
        "training_steps:mlp_step",
        "MLP step, 128x784x512x10, Adagrad",
        Unit.SECONDS,
        0.9,
        _arithmetic(_MLP_OPERATIONS),
    ),
    Measure(
        "embedding_step",
        "training_steps:embedding_step",
        "Embedding step, 4,096 of 1,000,000x32, Adagrad",
        Unit.SECONDS,
        0.7,
    ),
    Measure(
        "cnn_step",
        "training_steps:cnn_step",
        "CNN step, 128x28x28, two 5x5 convolutions",
        Unit.SECONDS,
        1.0,
        _arithmetic(_CNN_OPERATIONS),
    ),
    Measure(
        "resnet_step",
        "training_steps:resnet_step",
        "ResNet-20 step, 32x32x32, batch normalization, momentum",
        Unit.SECONDS,
        1.0,
        _arithmetic(_RESNET_OPERATIONS),
        # Its code alone takes 7.5 s of CPU, and several times as long beside other work.
        time_limit_s=300.0,
    ),
    Measure("until_100_mlp", "first_steps:mlp", "Until 100 steps are done: 784-100-10, Adam", Unit.SECONDS, 1.0),
    Measure("until_100_cnn", "first_steps:cnn", "Until 100 steps are done: two 3x3 convolutions", Unit.SECONDS, 1.0),
    Measure("until_100_static_rnn", "first_steps:static_rnn", "Until 100 steps are done: static RNN", Unit.SECONDS, 1.0),
    Measure("until_100_dynamic_rnn", "first_steps:dynamic_rnn", "Until 100 steps are done: dynamic RNN", Unit.SECONDS, 1.0),
    Measure("until_100_embedding", "first_steps:embedding", "Until 100 steps are done: embedding", Unit.SECONDS, 1.0),
    Measure("until_1000_deep_q", "first_steps:deep_q", "Until 1,000 steps are done: deep Q network", Unit.SECONDS, 1.0),
    Measure("initial_uniform", "initial_values:uniform", "CPU of 43 million initial values: uniform", Unit.SECONDS, 1.0),
    Measure("initial_normal", "initial_values:normal", "CPU of 43 million initial values: normal", Unit.SECONDS, 1.0),
    Measure("initial_truncated", "initial_values:truncated", "CPU of 43 million initial values: truncated", Unit.SECONDS, 1.0),
    Measure("gradient_check", "first_steps:gradient_check", "tf.test.compute_gradient, 500 by 300", Unit.SECONDS, 1.5),
    Measure("changing_batches", "first_steps:changing_batches", "60 sizes of a batch, two 3x3 convolutions", Unit.SECONDS, 1.0),
    Measure("changing_episodes", "first_steps:changing_episodes", "39 lengths of an episode, recurrent", Unit.SECONDS, 1.0),
    Measure("parse_example", "input_kernels:parse_example", "CPU of parse_example, per record of 256", Unit.SECONDS, 3.0),
    Measure("decode_csv", "input_kernels:decode_csv", "CPU of decode_csv, per line of 256", Unit.SECONDS, 3.0),
    Measure("hash_strong", "input_kernels:hash_strong", "CPU of a strong hash, per key of 256", Unit.SECONDS, 3.0),
    Measure("hash_fast", "input_kernels:hash_fast", "CPU of a fast hash, per key of 256", Unit.SECONDS, 3.0),
    Measure(
        "string_to_number", "input_kernels:string_to_number", "CPU of string_to_number, per text of 256", Unit.SECONDS, 3.0
    ),
    Measure("string_split", "input_kernels:string_split", "CPU of string_split, per sentence of 256", Unit.SECONDS, 3.0),
    Measure(
        "queue_pipeline", "input_pipelines:queue_pipeline", "CPU of an input pipeline of queues, per record", Unit.SECONDS, 1.0
    ),
    Measure(
        "image_pipeline",
        "input_pipelines:image_pipeline",
        "CPU of a pipeline of queues that distorts images, per image",
        Unit.SECONDS,
        1.0,
    ),
    Measure(
        "dataset_pipeline",
        "input_pipelines:dataset_pipeline",
        "CPU of an input pipeline of tf.data, per record",
        Unit.SECONDS,
        1.0,
    ),
    Measure("own_server", "sessions:own_server", "Session on an own server, assign_add", Unit.SECONDS, 0.25),
    Measure("client_only", "sessions:client_only", "Client without a server, assign_add", Unit.SECONDS, 0.3, _round_trips(1)),
    Measure(
        "remote_assign",
        "remote_variables:remote_assign",
        "Variable elsewhere: assign_add",
        Unit.SECONDS,
        0.25,
        _round_trips(1),
    ),
    Measure(
        "remote_assign_fetch",
        "remote_variables:remote_assign_fetch",
        "Variable elsewhere: assign_add and fetch",
        Unit.SECONDS,
        0.2,
        _round_trips(1),
    ),
    Measure(
        "there_and_back",
        "remote_variables:there_and_back",
        "A value there and back, two tasks",
        Unit.SECONDS,
        0.25,
        _round_trips(1),
    ),
    Measure(
        "pull_100x1kb",
        "remote_variables:pull_100x1kb",
        "Pulling 100 variables of 1 KB",
        Unit.SECONDS,
        0.15,
        _one_way(100 * 1024),
    ),
    Measure("pull_1mb", "remote_variables:pull_1mb", "Pulling a variable of 1 MB", Unit.SECONDS, 0.4, _one_way(1024 * 1024)),
    Measure("pull_100mb", "remote_variables:pull_100mb", "Pulling 100 MB", Unit.RATE, 3.0, _unix_rate),
    Measure("push_100mb", "remote_variables:push_100mb", "Pushing 100 MB", Unit.RATE, 3.0, _unix_rate),
    Measure(
        "between_hosts_assign",
        "between_hosts:between_hosts_assign",
        "Between hosts, TLS against plain text: assign_add",
        Unit.SECONDS,
        0.5,
    ),
    Measure(
        "between_hosts_pull",
        "between_hosts:between_hosts_pull",
        "Between hosts, TLS against plain text: 100 MB",
        Unit.RATE,
        1.0,
    ),
    Measure("null_steps_1", "sessions:null_steps_1", "Null steps of one server, 1 client", Unit.STEPS, 4.0, _round_trip_rate),
    Measure("null_steps_8", "sessions:null_steps_8", "Null steps of one server, 8 clients", Unit.STEPS, 5.0),
    Measure(
        "async_training",
        "asynchronous_training:async_training",
        "Async training, 1 ps + 2 workers, 784x128x10",
        Unit.STEPS,
        3.0,
    ),
    Measure(
        "embedding_training",
        "asynchronous_training:embedding_training",
        "Embedding training, 2 ps + 2 workers, 1,000,000x32",
        Unit.STEPS,
        3.0,
    ),
    Measure("ps_memory", "asynchronous_training:ps_memory", "Memory of a parameter server", Unit.BYTES, 0.6),
)


def select(patterns: list[str]) -> list[Measure]:
    """Return the measures whose name or family matches a pattern (`null_*`, `sessions`); all, if none is given."""
    return matching(MEASURES, patterns, lambda measure: (measure.name, measure.family), "measure")


class UnknownNameError(ValueError):
    """Nothing to measure has this name."""


class Named(Protocol):
    """What can be chosen on the command line."""

    @property
    def name(self) -> str: ...


N = TypeVar("N", bound=Named)


def matching(items: Sequence[N], patterns: list[str], names_of: Callable[[N], tuple[str, ...]], kind: str) -> list[N]:
    """Return the items one of whose names matches a pattern; all, if there are no patterns.

    Raises:
        UnknownNameError: a pattern matches nothing.
    """
    if not patterns:
        return list(items)

    def matches(item: N, pattern: str) -> bool:
        return any(fnmatch.fnmatchcase(name, pattern) for name in names_of(item))

    unmatched = [pattern for pattern in patterns if not any(matches(each, pattern) for each in items)]
    if unmatched:
        names = ", ".join(each.name for each in items)
        raise UnknownNameError(f"no {kind} is called {', '.join(unmatched)}; there are {names}")
    return [each for each in items if any(matches(each, pattern) for pattern in patterns)]
