"""Tasks that are brought to other hosts are started a few at a time."""

import asyncio
import io
from dataclasses import dataclass

import pytest

from weft.cli.cluster_job import ClusterJob, LaunchedTask
from weft.cli.display import PlainDisplay
from weft.cli.doorway import Doorway
from weft.cli.job_runner import JobRunner
from weft.cli.remote_task import news_in


def tasks(job, count):
    return [LaunchedTask(job, index, None) for index in range(count)]


A, B, HERE = tasks("a", 4), tasks("b", 4), tasks("here", 4)


@pytest.fixture
def doorway():
    return Doorway(lambda task: None if task.job == "here" else task.job, per_host=2, in_all=3)


def come(doorway, *coming):
    for task in coming:
        doorway.come(task)
    return doorway.turns()


def test_a_host_takes_so_many_at_a_time(doorway):
    assert come(doorway, *A) == A[:2]
    assert doorway.turns() == []
    doorway.passed(A[1])
    assert doorway.turns() == [A[2]]


def test_who_waits_for_one_host_keeps_nobody_from_another_and_all_hosts_have_a_limit(doorway):
    assert come(doorway, *A, *B) == [*A[:2], B[0]]
    doorway.passed(A[0])
    assert doorway.turns() == [A[2]]
    doorway.passed(A[1])
    doorway.passed(A[2])
    assert doorway.turns() == [A[3], B[1]]


def test_what_starts_here_never_waits(doorway):
    assert come(doorway, *A, *HERE) == [*A[:2], *HERE]


def test_who_turns_back_has_no_turn(doorway):
    come(doorway, *A)
    assert doorway.turn_back(A[:3]) == [A[2]]
    doorway.passed(A[0])
    assert doorway.turns() == [A[3]]


@dataclass(frozen=True)
class Elsewhere(ClusterJob):
    """Its tasks run here, as behind an ssh to one host."""

    def host_of(self, task):
        return "other"

    def news(self, line):
        return news_in(line)


@pytest.fixture
def run(program):
    """Run a program as seven workers elsewhere; return the exit code and the launcher's words."""

    def launch(text, *arguments):
        job = Elsewhere.on_ports({"worker": 7}, range(9000, 9007), program(worker=text), arguments)
        notes = io.StringIO()
        display = PlainDisplay([task.name for task in job.tasks], io.StringIO(), notes)
        return asyncio.run(JobRunner(job, display, 20.0).run()), notes.getvalue()

    return launch


def test_the_next_are_started_when_those_before_have_got_there(run, tmp_path):
    log = tmp_path / "log"
    text = f"""def say(word):
    with open({str(log)!r}, 'a') as file:
        file.write(word)
say('b')
while index < 5 and open({str(log)!r}).read().count('b') < 5:
    os.sched_yield()
say('e')
print('\\x1e{{}}')"""
    exit_code, notes = run(text)
    said = log.read_text()
    entering = [said[:end].count("b") - said[:end].count("e") for end in range(len(said) + 1)]
    assert (exit_code, max(entering), said.count("b")) == (0, 5, 7), notes


def test_those_who_wait_when_the_job_ends_are_not_started(run, tmp_path):
    log = tmp_path / "log"
    text = f"open({str(log)!r}, 'a').write('b')\nif index == 0:\n    sys.exit(3)\nsignal.pause()"
    exit_code, notes = run(text)
    assert (exit_code, log.read_text().count("b") <= 5) == (3, True)
    assert "worker:4 started" in notes
    assert "worker:5 started" not in notes
    assert "worker:6 stopped after" in notes
