"""A master waits for the tasks that a session uses, says for whom and why, and reaches those of its process directly."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest

from tests.distributed.fake_workers import FakeWorker
from weft.distributed.master import worker_cache
from weft.distributed.master.worker_cache import WorkerCache, task_names
from weft.distributed.rpc.misfit_watch import MisfitWatch
from weft.distributed.worker.task_status import TaskStatus
from weft.errors import CancelledError, DeadlineExceededError, UnauthenticatedError, UnavailableError
from weft.framework.devices.cluster_spec import ClusterSpec
from weft.platform.waits import wait_notice

SPEC = ClusterSpec({"worker": ["h:1", "h:2"], "chief": ["h:3"], "ps": {2: "h:4"}})
CHIEF, PS, WORKER_0, WORKER_1 = (
    f"/job:{job}/replica:0/task:{n}" for job, n in (("chief", 0), ("ps", 2), ("worker", 0), ("worker", 1))
)


class Registry:
    """Tasks that come up one after the other; `local` ones are in this process."""

    def __init__(self, absent: dict[str, int] | None = None, local: tuple[str, ...] = (), reason: str = "it refused") -> None:
        self.reason = reason
        self.absent = dict(absent or {})
        self.local = set(local)
        self.reached: set[str] = set()

    def reach(self, task: str, address: str) -> Any:
        self.reached.add(f"{task} at {address}")
        found = FakeWorker(task)
        found.is_local = task in self.local
        return found

    def status(self, task: str, address: str, timeout_s: float) -> TaskStatus:
        if self.absent.get(task, 0) > 0:
            self.absent[task] -= 1
            raise UnavailableError.of(f"Task {task} at {address} is unavailable: {self.reason}")
        return TaskStatus((), 7)


def go_on() -> None:
    return None


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_cache, "_POLL_S", 0.001)


def test_tasks_are_in_order_of_job_and_index() -> None:
    assert task_names(SPEC) == {CHIEF: "h:3", PS: "h:4", WORKER_0: "h:1", WORKER_1: "h:2"}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ([], [CHIEF, PS, WORKER_0, WORKER_1]), (["/job:ps"], [PS, WORKER_1]), (["/job:worker/task:0"], [WORKER_0, WORKER_1]),
        (["/job:ps", "/job:chief/cpu:0"], [CHIEF, PS, WORKER_1]), (["/job:none"], [WORKER_1]),
    ],
)  # fmt: skip
def test_device_filters_choose_tasks_and_keep_the_sessions_own(filters: list[str], expected: list[str]) -> None:
    assert WorkerCache(SPEC, Registry()).filtered(filters, WORKER_1) == expected


def test_a_handle_of_a_task_elsewhere_is_kept_and_one_of_this_process_asked_for_anew() -> None:
    registry = Registry(local=(PS,))
    cache = WorkerCache(SPEC, registry)
    assert cache.handle(CHIEF) is cache.handle(CHIEF)
    assert cache.handle(PS) is not cache.handle(PS)
    assert registry.reached == {f"{CHIEF} at h:3", f"{PS} at h:4"}


def test_the_wait_ends_when_all_have_answered() -> None:
    found = WorkerCache(SPEC, Registry({CHIEF: 2, PS: 3})).wait_for([CHIEF, PS, WORKER_0], None, go_on)
    assert {task: status.incarnation for task, status in found.items()} == {CHIEF: 7, PS: 7, WORKER_0: 7}


def test_a_deadline_names_who_is_missing_and_why() -> None:
    cache = WorkerCache(SPEC, Registry({CHIEF: 10**9}))
    with pytest.raises(DeadlineExceededError, match=rf"have not answered in time:\s+{CHIEF} at h:3: it refused$"):
        cache.wait_for([CHIEF, PS], time.monotonic() + 0.02, go_on)


def test_a_task_that_takes_its_time_is_named_once() -> None:
    class Slow(Registry):
        def status(self, task: str, address: str, timeout_s: float) -> TaskStatus:
            raise DeadlineExceededError.of(f"Task {task} at {address} did not answer in time (GetStatus): Deadline Exceeded")

    with pytest.raises(DeadlineExceededError, match=rf"\n  {PS} at h:4: did not answer in time \(GetStatus\)"):
        WorkerCache(SPEC, Slow()).wait_for([PS], time.monotonic() + 0.02, go_on)


def test_a_wait_may_be_cancelled() -> None:
    def cancel() -> None:
        raise CancelledError(None, None, "closed")

    with pytest.raises(CancelledError, match="closed"):
        WorkerCache(SPEC, Registry({CHIEF: 10**9})).wait_for([CHIEF], None, cancel)


def test_credentials_that_do_not_fit_end_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_cache, "MisfitWatch", lambda: MisfitWatch(0.0))
    reason = "it has no credentials of a cluster's, and this process has; or it is no task (WRONG_VERSION_NUMBER)"
    with pytest.raises(UnauthenticatedError, match=f"^Task {PS} at h:4 is unavailable: it has no credentials"):
        WorkerCache(SPEC, Registry({PS: 10**9}, reason=reason)).wait_for([PS], None, go_on)


def test_a_long_wait_is_reported(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(wait_notice, "FIRST_S", 0.0)
    with caplog.at_level(logging.WARNING, "weft"):
        WorkerCache(SPEC, Registry({PS: 2})).wait_for([PS], None, go_on)
    assert f"still waiting for response from:\n  {PS} at h:4: it refused" in caplog.text
