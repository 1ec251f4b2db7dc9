"""A graph of its own for every test, and its partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

import weft as tf
from weft.passes.partition import Partition, partition
from weft.passes.prune import prune
from weft.passes.stage import Staging
from weft.runtime import stage_builder


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    """The default graph of the test, empty at its start."""
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture(autouse=True)
def validated_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has every plan of stages that is built, and the programs in it, say whether they are as their readers rely on."""
    build = stage_builder._Builder.build

    def checked(builder: stage_builder._Builder) -> stage_builder.StagePlan:
        plan = build(builder)
        plan.validate()
        return plan

    monkeypatch.setattr(stage_builder._Builder, "build", checked)


class Parts:
    """Partitions of the test's graph as the passes make them, by the task that a node's device names (else job a)."""

    def __init__(
        self, graph: tf.Graph, feeds: Sequence[tf.Tensor], fetches: Sequence[tf.Tensor], targets: Sequence[Any]
    ) -> None:
        ops = prune(fetches, feeds, targets)
        placement = {op: f"{op.device or '/job:a'}/replica:0/task:0/device:CPU:0" for op in ops}
        self.by_task = partition(ops, placement, Staging(ops, placement, feeds), feeds, fetches)

    def __getitem__(self, job: str) -> Partition:
        return self.by_task[f"/job:{job}/replica:0/task:0"]


MakeParts = Callable[..., Parts]


@pytest.fixture
def make_parts(graph: tf.Graph) -> MakeParts:
    """Cuts the test's graph into partitions."""

    def make(fetches: Sequence[tf.Tensor] = (), feeds: Sequence[tf.Tensor] = (), targets: Sequence[Any] = ()) -> Parts:
        return Parts(graph, feeds, fetches, targets)

    return make
