"""The parts of a plan as they are registered."""

from __future__ import annotations

from typing import Any, cast

from tests.distributed.fake_workers import FakeWorker
from weft.distributed.master.steps.deployment import Deployment, Part


def test_tasks_elsewhere_are_asked_before_those_of_this_process() -> None:
    here, there, elsewhere = (FakeWorker(name) for name in ("a", "b", "c"))
    here.is_local = True
    parts = {each.task: Part(cast("Any", None), (), each, "handle", 1) for each in (here, there, elsewhere)}
    deployment = Deployment(parts)
    assert list(deployment.parts) == ["b", "c", "a"]
    assert deployment.elsewhere == [there, elsewhere]
