"""Training jobs of processes that are killed and started again."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import weft as tf
from tests.guides.running import Program
from weft.distributed.server.local_cluster import free_addresses

pytestmark = pytest.mark.timeout(150)

_PROGRAMS = Path(__file__).parent / "programs"


class Job:
    """The processes of one job: two parameter servers and some workers, by job and index."""

    def __init__(self, program: str, workers: int, *arguments: object) -> None:
        self._program = _PROGRAMS / program
        self._workers = workers
        self._addresses = ",".join(free_addresses(2 + workers))
        self._arguments = arguments
        self._running: list[Program] = []

    def start(self, job: str, index: int) -> Program:
        """Start a task, once more where it was killed."""
        self._running.append(Program(self._program, job, index, self._addresses, *self._arguments))
        return self._running[-1]

    def start_all(self) -> tuple[list[Program], list[Program]]:
        """Start all tasks; returns the parameter servers and the workers."""
        servers = [self.start("ps", index) for index in range(2)]
        return servers, [self.start("worker", index) for index in range(self._workers)]

    def kill(self) -> None:
        for program in self._running:
            program.kill()


@pytest.fixture
def make_job() -> Iterator[Callable[..., Job]]:
    made: list[Job] = []

    def make(program: str, workers: int, *arguments: object) -> Job:
        made.append(Job(program, workers, *arguments))
        return made[-1]

    yield make
    for job in made:
        job.kill()


def found(program: Program) -> list[tuple[int, int, int]]:
    """What the steps of a replica found: the global step, and the counts on ps:0 and ps:1."""
    lines = [line.split() for line in program.output if line.startswith("found ")]
    return [(int(step), int(first), int(second)) for _, step, first, second in lines]


def wait_for_steps(program: Program, count: int, limit_s: float = 60.0) -> int:
    """Block until a replica has made so many steps more; returns the global step."""
    before, deadline = len(found(program)), time.monotonic() + limit_s
    while len(found(program)) < before + count:
        assert program.is_running, "\n".join(program.output[-20:])
        assert time.monotonic() < deadline, "no more steps:\n" + "\n".join(program.output[-20:])
        time.sleep(0.01)
    return found(program)[-1][0]


def never_falls(values: list[int]) -> bool:
    return all(before <= after for before, after in pairwise(values))


@pytest.mark.parametrize("has_directory", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_chief_that_was_killed_comes_back_to_a_model_that_has_gone_on(
    make_job: Callable[..., Job], tmp_path: Path, has_directory: bool
) -> None:
    job = make_job("counting_replica.py", 3, tmp_path if has_directory else "", 800)
    servers, (chief, *workers) = job.start_all()
    for worker in workers:
        wait_for_steps(worker, 10)
    chief.kill()
    # The others go on meanwhile.
    at_kill = wait_for_steps(workers[0], 30)
    chief = job.start("worker", 0)
    told = chief.wait_for("The model lives at global step")
    joined = re.search(r"global step (\d+)", told)
    assert joined is not None
    assert int(joined[1]) >= at_kill
    for replica in [chief, *workers]:
        assert replica.wait(100)[-1] == "ended"
        steps, firsts, seconds = zip(*found(replica), strict=True)
        assert never_falls(steps)
        assert never_falls(firsts)
        assert never_falls(seconds)
    # Of a step that the chief was killed in one of the two parameter servers may have its part.
    step, first, second = max(found(each)[-1] for each in [chief, *workers])
    assert step == first
    assert abs(step - second) <= 3
    for server in servers:
        assert "serving" in server.wait(30)


def test_parameter_servers_fail_with_the_reason_when_their_chief_has_died_for_good(
    make_job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_LIMITS", "lost_job_s=1")
    job = make_job("counting_replica.py", 1, "", 800)
    servers, (chief,) = job.start_all()
    wait_for_steps(chief, 5)
    chief.kill()
    for server in servers:
        code, output = server.wait_for_end(60)
        assert code == 1
        assert "AbortedError: Server /job:ps/replica:0/task:" in output[-1]
        assert "has left without ending it: it died or was cut off, and nobody has come back for 1 s" in output[-1]


def test_a_parameter_server_that_was_killed_gets_its_own_variables_back_and_the_others_keep_theirs(
    make_job: Callable[..., Job], tmp_path: Path
) -> None:
    job = make_job("counting_replica.py", 2, tmp_path, 400)
    servers, replicas = job.start_all()
    chief = replicas[0]
    while wait_for_steps(chief, 5) < 130:
        pass
    servers[1].kill()
    job.start("ps", 1)
    told = chief.wait_for("1 variables have no value: /job:ps/task:1 was restarted. Restoring these from")
    saved = int(told.partition(str(tmp_path))[2].partition("model.ckpt-")[2].partition(";")[0])
    for replica in replicas:
        assert replica.wait(100)[-1] == "ended"
        steps, firsts, _ = zip(*found(replica), strict=True)
        assert never_falls(steps)
        assert never_falls(firsts)
    live = re.search(r"at global step (\d+)", told)
    assert live is not None
    # What ps:1 had counted since the checkpoint is lost, and nothing else; a step of each replica may have got half through.
    step, _, second = found(chief)[-1]
    assert step - second == pytest.approx(int(live[1]) - saved, abs=4)
    with tf.Graph().as_default():
        assert tf.train.load_variable(str(tmp_path), "global_step") >= 400


@pytest.mark.slow
def test_the_whole_model_goes_back_where_that_is_asked_for(make_job: Callable[..., Job], tmp_path: Path) -> None:
    job = make_job("counting_replica.py", 2, tmp_path, 400, "whole")
    servers, replicas = job.start_all()
    while wait_for_steps(replicas[0], 5) < 130:
        pass
    servers[1].kill()
    job.start("ps", 1)
    told = replicas[0].wait_for("restoring all variables from")
    for replica in replicas:
        assert replica.wait(100)[-1] == "ended"
    assert re.search(r"The model is at global step \d+: .*\(global step \d+\)", told)
    step, first, second = found(replicas[0])[-1]
    assert step == first
    # Both parameter servers are back at one moment.
    assert abs(first - second) <= 2


def test_replicas_in_step_go_on_without_one_that_was_killed_and_with_it_when_it_is_back(make_job: Callable[..., Job]) -> None:
    job = make_job("sync_replica.py", 3, 500, 2.0, 0)
    _, (chief, other, killed) = job.start_all()
    wait_for_steps(killed, 5)
    killed.kill()
    told = chief.wait_for("/job:worker/task:2 is gone")
    assert "updates are made of 2 gradients from now on (3 when all 3 replicas are there)" in told
    # Nobody starts it again before that.
    wait_for_steps(other, 3)
    killed = job.start("worker", 2)
    chief.wait_for("/job:worker/task:2 is back: updates are made of 3 gradients", 60.0)
    for replica in [chief, other, killed]:
        assert replica.wait(100)[-1] == "ended"


def test_the_end_of_input_at_one_replica_in_step_is_clean_and_the_others_go_on(make_job: Callable[..., Job]) -> None:
    job = make_job("sync_replica.py", 3, 60, 100.0, 20)
    _, (chief, *others) = job.start_all()
    assert others[1].wait(100)[-1] == "ended"
    assert len(found(others[1])) == 20
    chief.wait_for("/job:worker/task:2 is gone: updates are made of 2 gradients")
    for replica in [chief, others[0]]:
        assert replica.wait(60)[-1] == "ended"
        assert found(replica)[-1][0] >= 59


@pytest.mark.slow
def test_replicas_in_step_go_on_when_a_chief_or_a_parameter_server_was_killed(
    make_job: Callable[..., Job], tmp_path: Path
) -> None:
    job = make_job("sync_replica.py", 3, 400, 2.0, 0, tmp_path)
    servers, (chief, *others) = job.start_all()
    wait_for_steps(others[0], 20)
    chief.kill()
    time.sleep(1.0)
    chief = job.start("worker", 0)
    chief.wait_for("The model lives at global step")
    wait_for_steps(others[0], 20)
    servers[1].kill()
    job.start("ps", 1)
    chief.wait_for("restoring all variables from")
    wait_for_steps(others[0], 20)
    for replica in [chief, *others]:
        assert replica.wait(100)[-1] == "ended"
    with tf.Graph().as_default():
        step = tf.train.load_variable(str(tmp_path), "global_step")
        values = [tf.train.load_variable(str(tmp_path), name) for name in ("first", "second")]
    # Each update takes one tenth of the gradient 1 away, whoever's gradients it is made of; both variables have had all.
    assert values == pytest.approx([-0.1 * step] * 2, rel=1e-3)


def test_replicas_in_step_come_later_and_leave_and_updates_are_made_of_those_that_are_there(
    make_job: Callable[..., Job], tmp_path: Path
) -> None:
    job = make_job("elastic_replica.py", 3, tmp_path)
    for index in range(2):
        job.start("ps", index)
    chief = job.start("worker", 0)
    # Nobody waits for the two that have not been started.
    wait_for_steps(chief, 5)
    second = job.start("worker", 1)
    chief.wait_for("/job:worker/task:1 has come: updates are made of 2 gradients from now on")
    wait_for_steps(second, 5)
    third = job.start("worker", 2)
    chief.wait_for("/job:worker/task:2 has come: updates are made of 3 gradients from now on")
    wait_for_steps(third, 5)
    # Each in step with the others.
    assert abs(found(second)[-1][0] - found(third)[-1][0]) <= 2
    second.kill()
    chief.wait_for("/job:worker/task:1 is gone: updates are made of 2 gradients from now on")
    wait_for_steps(third, 5)
    second = job.start("worker", 1)
    chief.wait_for("/job:worker/task:1 is back: updates are made of 3 gradients from now on")
    wait_for_steps(second, 5)
    (tmp_path / "end").touch()
    for replica in (third, second, chief):
        assert replica.wait(60)[-1] == "ended"
