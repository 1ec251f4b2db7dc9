"""Whether waiting for the chief can end."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import weft as tf
from weft.training.sessions import model_readiness
from weft.training.sessions.board_view import Replica
from weft.training.sessions.model_readiness import ChiefWatch
from weft.training.sessions.model_signature import VariableSignature

V = VariableSignature("float32", (2,), "/job:ps/task:0")
WIDE = VariableSignature("float32", (3,), "/job:ps/task:0")


def replica(variables: Mapping[str, VariableSignature], is_chief: bool = True, process: str = "host:1") -> Replica:
    return Replica(is_chief, "a:1", process, "initializing", variables)


class Here:
    """A replica with variables `mine`, among others."""

    def __init__(self, mine: Mapping[str, VariableSignature], *others: Replica) -> None:
        self.signature = mine
        self.there = list(others)

    def others(self) -> list[Replica]:
        return self.there

    is_fenced = False


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_no_chief_is_told_from_one_that_initializes() -> None:
    here = Here({"v": V}, replica({}, is_chief=False))
    watch = ChiefWatch(here)
    assert watch.look(["v"]) == "No chief is there: it was not started yet, or it has failed"
    here.there.append(replica({"v": V}))
    assert watch.look(["v"]) == "The chief a:1 (process host:1) is initializing"


def test_a_model_that_a_chief_has_left_half_made_is_waited_for() -> None:
    here = Here({"v": V})
    watch = ChiefWatch(here)
    watch.look([])
    assert not watch.is_chief_initializing
    here.is_fenced = True
    assert watch.look([]) == "The chief has gone while it gave the model its values; the next one does it again"
    assert watch.is_chief_initializing


def test_a_variable_that_the_chief_lacks_ends_the_wait_at_once() -> None:
    watch = ChiefWatch(Here({"step": V, "w1/v": V}, replica({"step": V, "w0/v": V})))
    with pytest.raises(tf.errors.InvalidArgumentError) as raised:
        watch.look(["w1/v"])
    for part in ("chief a:1 (process host:1)", "only in this replica:\n    w1/v", "only in the chief's graph:\n    w0/v"):
        assert part in raised.value.message


@pytest.mark.parametrize(("is_trained", "warnings"), [(True, 1), (False, 0)])
def test_only_variables_that_the_chief_trains_are_worth_a_warning(
    monkeypatch: pytest.MonkeyPatch, is_trained: bool, warnings: int
) -> None:
    told: list[str] = []
    monkeypatch.setattr(model_readiness.tf_logging, "warning", lambda text, *values: told.append(text % values))
    average = VariableSignature("float32", (), "/job:ps/task:0", is_trained)
    watch = ChiefWatch(Here({"v": V}, replica({"v": V, "loss/avg": average})))
    watch.look([])
    watch.look([])
    assert len(told) == warnings


def test_a_variable_that_this_replica_initializes_itself_is_its_own_business() -> None:
    assert "is initializing" in ChiefWatch(Here({"step": V, "mine": V}, replica({"step": V}))).look(["step"])


def test_another_shape_ends_the_wait_even_when_nothing_is_missing() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"v: float32 \[2\] .* here, float32 \[3\] .* there"):
        ChiefWatch(Here({"v": V}, replica({"v": WIDE}))).look([])


def test_what_only_the_chief_has_does_no_harm() -> None:
    assert "is initializing" in ChiefWatch(Here({"v": V}, replica({"v": V, "average": V}))).look([])


def test_a_chief_without_any_of_the_names_may_be_another_jobs_for_a_moment() -> None:
    clock = Clock()
    here = Here({"w1/v": V}, replica({"w0/v": V}))
    watch = ChiefWatch(here, clock)
    assert "has none of this replica's variables" in watch.look(["w1/v"])
    clock.now = 4.9
    watch.look(["w1/v"])
    clock.now = 5.1
    with pytest.raises(tf.errors.InvalidArgumentError, match="w0/v"):
        watch.look(["w1/v"])
    here.there.append(replica({"w1/v": V}, process="host:2"))
    assert watch.look(["w1/v"]) == "The chief a:1 (process host:2) is initializing"
