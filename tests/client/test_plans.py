"""A run with the fetches and feeds of an earlier one is not prepared again, and what is not used any more is given back."""

from __future__ import annotations

import collections
from typing import Any

import pytest

import weft as tf
from tests.client.conftest import OpenSession
from weft.client import plans
from weft.client.plans import Plans
from weft.framework.nodes.operation import Operation, Tensor

Pair = collections.namedtuple("Pair", "x y")


class FakeStep:
    """A prepared step that notes in a list that it was dropped."""

    def __init__(self, dropped: list[int], number: int) -> None:
        self.number = number
        self._dropped = dropped

    def run(self, feeds: Any, options: Any = None) -> Any:
        raise AssertionError("not run here")

    def explain(self) -> Any:
        raise AssertionError("not asked here")

    def __del__(self) -> None:
        self._dropped.append(self.number)


class Preparer:
    def __init__(self) -> None:
        self.asked: list[tuple[list[str], list[str], list[str]]] = []
        self.dropped: list[int] = []

    def __call__(self, feeds: list[Tensor], fetches: list[Tensor], targets: list[Operation]) -> Any:
        self.asked.append(([t.name for t in feeds], [t.name for t in fetches], [op.name for op in targets]))
        return FakeStep(self.dropped, len(self.asked))


def test_a_plan_is_found_by_the_structure_of_its_fetches(graph: tf.Graph) -> None:
    a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
    cache, prepare = Plans(graph), Preparer()
    for make in (lambda: [a, b], lambda: (a, [b]), lambda: {"x": a, "y": b}, lambda: Pair(a, b), lambda: a, lambda: b.op):
        assert cache.find(make(), []) is None
        plan = cache.make(make(), [], prepare)
        assert cache.find(make(), []) is plan
    assert cache.find([b, a], []) is None
    assert cache.find([a, b], [a]) is None


def test_structures_of_the_same_tensors_share_a_step(graph: tf.Graph) -> None:
    a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
    cache, prepare = Plans(graph), Preparer()
    steps = {id(cache.make(fetches, [], prepare).step) for fetches in ([a, b], (a, b), {"k": Pair(a, b)}, [a, (b, a)])}
    assert len(steps) == 1
    assert prepare.asked == [([], ["a:0", "b:0"], [])]


def test_what_is_fetched_by_an_iterable_of_its_own_kind_is_prepared_once(graph: tf.Graph) -> None:
    sparse = tf.SparseTensor([[0, 1]], [3.0], [2, 2])
    cache, prepare = Plans(graph), Preparer()
    for _ in range(5):
        cache.make([sparse, collections.defaultdict(list, k=sparse.values)], [], prepare)
    assert len(prepare.asked) == 1


def test_the_oldest_plan_goes_when_there_are_too_many(graph: tf.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MAX_PLANS", 2)
    tensors = [tf.constant(n) for n in range(3)]
    cache, prepare = Plans(graph), Preparer()
    for tensor in tensors:
        cache.make(tensor, [], prepare)
    assert prepare.dropped == [1]
    assert cache.find(tensors[0], []) is None
    cache.clear()
    assert prepare.dropped == [1, 2, 3]


@pytest.mark.parametrize("kind", ["direct", "served"])
def test_repeated_runs_register_nothing_more(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither structures without a key, nor more plans than a session keeps, leave graphs behind on the tasks."""
    monkeypatch.setattr(plans, "MAX_PLANS", 4)
    sparse = tf.SparseTensor([[0, 1]], [3.0], [2, 2])
    tensors = [tf.constant(n) + 1 for n in range(12)]
    with tf.train.Server.create_local_server() as server:
        config = tf.ConfigProto()
        config.rpc_options.use_rpc_for_inprocess_master = True
        with tf.Session("" if kind == "direct" else server.target, config=config) as session:
            backend: Any = session._steps.backend
            worker = backend.registrar._find_worker("").worker if kind == "direct" else server._worker
            for _ in range(3):
                for tensor in tensors:
                    assert session.run(collections.defaultdict(list, s=sparse, t=tensor))["t"] > 0
                    session.make_callable(Pair(tensor, tensor))()
            assert 0 < len(worker._executors) < 16


def test_a_session_on_any_target_gives_plans_back(open_session: OpenSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MAX_PLANS", 2)
    session = open_session()
    tensors = [tf.constant(n) * 2 for n in range(6)]
    for _ in range(3):
        assert [session.run(tensor) for tensor in tensors] == [2 * n for n in range(6)]
