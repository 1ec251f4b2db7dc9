"""What the launcher does until a Ray cluster has taken its tasks, by a stand-in for Ray; real ones are in tests/schedulers."""

import io
import os
import signal
from types import SimpleNamespace

import pytest

from weft.cli import on_ray
from weft.cli.display import PlainDisplay
from weft.jobs.description import JobDescription, JobError, Role


class FullCluster:
    """A Ray cluster without room; `waits` are what happens while the launcher waits for it, one after the other."""

    def __init__(self, *waits):
        self._waits = list(waits)
        self.removed = []
        self.util = SimpleNamespace(placement_group=lambda *_, **__: self, remove_placement_group=self.removed.append)
        self.exceptions = SimpleNamespace(RayActorError=OSError)

    def wait(self, timeout_seconds):
        assert timeout_seconds < 1
        self._waits.pop(0)()
        return False

    def available_resources(self):
        return {"CPU": 2.0, "node:head": 1.0}


@pytest.fixture
def run(monkeypatch):
    """Run a job on a cluster; returns the exit code and the launcher's words."""
    now_s = [0.0]
    monkeypatch.setattr("weft.platform.waits.wait_notice.time", SimpleNamespace(monotonic=lambda: now_s[0]))

    def run(*waits):
        cluster = FullCluster(*((lambda s=each: now_s.__setitem__(0, s)) if not callable(each) else each for each in waits))
        monkeypatch.setattr(on_ray, "ray_module", lambda: cluster)
        notes = io.StringIO()
        job = JobDescription(__file__, (Role("worker", 1, cpus=99),))
        runner = on_ray.RayRunner(job, PlainDisplay(["worker:0"], io.StringIO(), notes), 1.0)
        try:
            return runner.run(), notes.getvalue()
        finally:
            assert cluster.removed == [cluster]

    return run


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_ends_the_wait_for_room(run):
    assert run(1.0, interrupt)[0] == 130


def test_the_wait_for_room_is_told_with_what_is_asked_for_and_what_is_free(run):
    _, notes = run(9.0, 11.0, 12.0, interrupt)
    assert notes.count("has no room") == 1
    assert "has no room for [{'CPU': 99}], for 11 s; free are {'CPU': 2.0}. Ask for less, or add nodes" in notes


def test_the_wait_for_room_has_an_end(run):
    with pytest.raises(JobError, match=r"no room for \[\{'CPU': 99\}\] for 300 s; free are \{'CPU': 2.0\}"):
        run(301.0)
