"""When the training job of a server is over."""

from __future__ import annotations

import dataclasses

import pytest

from weft.protocol.job_watch import DONE, FAILED, REPLICA, TRAINING, JobNote, JobOver, JobWatch

_PS = "/job:ps/replica:0/task:0"
_CHIEF = "/job:worker/replica:0/task:0"
_SECOND = "/job:worker/replica:0/task:1"


def _note(state: str, reason: str = "", process: str = "host:1") -> JobNote:
    return JobNote("chief localhost:1 (process host:1)", process, state, reason)


class _Server:
    """A server that waits at most a minute for a lost job."""

    def __init__(self, *others: str) -> None:
        self.watch = JobWatch(_PS, "host:2", 60.0, others)
        self.note: JobNote | None = None
        self.others: list[JobNote] = []  # of other jobs
        self.is_used = False
        self.masters: set[str] = set()
        self.there: set[str] = set()
        self.has_state = True

    def look(self, now_s: float) -> JobOver | None:
        notes = [] if self.note is None else [self.note, *self.others]
        return self.watch.look(now_s, notes, self.is_used, self.masters, self.there.__contains__, self.has_state)

    def over_after(self, begin_s: float = 0.0) -> float:
        """The first second, from one on, at which the job is over."""
        return next(at for at in range(1000) if self.look(begin_s + at) is not None)


def test_a_server_that_nobody_has_trained_on_serves_on() -> None:
    server = _Server()
    server.masters = {_CHIEF}
    assert all(server.look(float(at)) is None for at in range(0, 100_000, 1000))


def test_a_job_that_is_done_is_over_a_moment_after_everybody_has_left() -> None:
    server = _Server()
    server.note, server.masters = _note(DONE), {_CHIEF}
    server.is_used = True
    assert server.look(0.0) is None
    server.is_used, server.there = False, {_CHIEF}
    assert all(server.look(float(at)) is None for at in range(1000)), "a notebook may train once more"
    server.there = set()
    assert server.over_after(1000.0) == 5
    assert server.look(1005.0) == JobOver()


def test_a_connection_that_comes_back_starts_the_wait_anew() -> None:
    server = _Server()
    server.note, server.masters = _note(DONE), {_CHIEF}
    assert server.look(0.0) is None
    server.there = {_CHIEF}
    assert server.look(4.0) is None
    server.there = set()
    assert server.over_after(4.5) == 5


@pytest.mark.parametrize(
    ("note", "told"),
    [
        (_note(FAILED, "ValueError: no good"), "ended with ValueError: no good, and nobody has come back for 60 s"),
        (_note(TRAINING), "left without ending it: it died or was cut off, and nobody has come back for 60 s"),
    ],
)
def test_a_job_that_has_not_ended_well_is_waited_for_and_then_told(note: JobNote, told: str) -> None:
    server = _Server()
    server.note, server.masters = note, {_CHIEF}
    assert server.over_after() == 60
    over = server.look(61.0)
    assert over is not None
    assert told in over.error


def test_a_chief_that_comes_back_in_time_goes_on() -> None:
    server = _Server()
    server.note, server.masters = _note(TRAINING), {_CHIEF}
    assert server.look(0.0) is None
    assert server.look(59.0) is None
    server.is_used = True
    assert server.look(200.0) is None
    server.note, server.is_used = _note(DONE), False
    assert server.over_after(200.0) == 5


def test_a_replica_that_has_not_come_yet_is_waited_for() -> None:
    server = _Server(_CHIEF, _SECOND, "/job:ps/replica:0/task:1", "/job:other/replica:0/task:0")
    server.note, server.masters = _note(DONE), {_CHIEF}
    assert server.look(0.0) is None
    assert server.look(59.0) is None
    assert server.look(60.0) == JobOver(), "it does not come"
    # It comes, and has a look at the model.
    server.masters, server.is_used = {_CHIEF, _SECOND}, True
    assert server.look(61.0) is None
    server.is_used = False
    assert server.over_after(62.0) == 5


def test_a_server_without_state_waits_for_no_replica() -> None:
    server = _Server(_CHIEF, _SECOND)
    server.note, server.masters, server.has_state = _note(DONE), {_CHIEF}, False
    assert server.over_after() == 5


def test_a_task_that_only_serves_has_come_when_it_was_connected() -> None:
    server = _Server(_CHIEF, _SECOND)
    server.note, server.masters, server.there = _note(TRAINING), {_CHIEF}, {_CHIEF, _SECOND}
    assert server.look(0.0) is None
    server.note, server.there = _note(DONE), set()
    assert server.over_after(1.0) == 5


def test_a_client_in_another_process_may_come_again() -> None:
    server = _Server()
    server.note, server.masters = _note(DONE), {_PS}
    assert server.over_after() == 60
    own = _Server()
    own.note, own.masters = _note(DONE, process="host:2"), {_PS}
    assert own.over_after() == 5


def test_a_note_travels_as_bytes() -> None:
    note = _note(FAILED, "ValueError: né")
    assert JobNote.decode(note.encode()) == note


@pytest.mark.parametrize(
    "written",
    [b"", b"\xff", b"[]", b"7", b'{"chief": "c"}', b'{"chief": "c", "process": "p", "state": "asleep"}',
     b'{"chief": 1, "process": "p", "state": "done"}', b'{"chief": "c", "process": "p", "state": "done", "more": ""}',
     b"[" * 100_000],
)  # fmt: skip
def test_what_is_no_note_does_not_end_a_server(written: bytes) -> None:
    assert JobNote.decode(written) is None


def test_a_note_is_read_as_it_was_written() -> None:
    note = JobNote("chief", "host:1", FAILED, "an error")
    assert JobNote.decode(note.encode()) == note


def test_the_end_of_one_of_two_jobs_is_not_that_of_the_other() -> None:
    server = _Server()
    server.note, server.others = _note(DONE), [_note(TRAINING)]
    assert server.over_after() == 60, "the other may come back"
    over = server.look(61.0)
    assert over is not None
    assert "has left without ending it" in over.error
    server.others = [_note(DONE)]
    assert server.look(62.0) == JobOver()


def test_a_replica_that_left_without_a_word_is_waited_for_and_fails_nobody() -> None:
    server = _Server()
    server.note, server.masters = _note(DONE), {_CHIEF, _SECOND}
    lost = dataclasses.replace(_note(TRAINING, process="host:3"), role=REPLICA)
    server.others = [lost]
    assert server.over_after() == 60
    assert server.look(61.0) == JobOver()
    server.there = {_SECOND}
    assert server.look(100.0) is None
    server.others, server.there = [dataclasses.replace(lost, state=DONE)], set()
    assert server.over_after(200.0) == 5


def test_replicas_alone_are_no_job() -> None:
    server = _Server()
    server.others = [dataclasses.replace(_note(DONE), role=REPLICA)]
    server.masters = {_SECOND}
    assert server.watch.look(0.0, server.others, False, {_SECOND}, lambda task: False) is None
    assert server.watch.look(1000.0, server.others, False, {_SECOND}, lambda task: False) is None
