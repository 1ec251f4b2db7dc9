"""A task that comes back under another address, and what is announced falsely."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import weft as tf
from tests.guides.running import Program
from weft.distributed.server.announcements import Announcements
from weft.distributed.server.local_cluster import free_addresses
from weft.distributed.server.task_directory import PeerStubs
from weft.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    UnavailableError,
)
from weft.framework.devices.cluster_spec import ClusterSpec

pytestmark = pytest.mark.timeout(120)

PS, WORKER = "/job:ps/replica:0/task:0", "/job:worker/replica:0/task:0"
REPLICA = Path(__file__).with_name("moving_replica.py")


class Heard:
    """What a worker with a parameter server at one address hears."""

    def __init__(self, ps: str, connected: int = 0) -> None:
        cluster = ClusterSpec({"ps": [ps], "worker": ["localhost:1"]})
        self.stubs = PeerStubs(WORKER, cluster, 2.0)
        self.moved: list[tuple[str, str]] = []
        note = lambda task, address: self.moved.append((task, address))  # noqa: E731
        self._announcements = Announcements(WORKER, self.stubs, lambda task: connected, note)
        self.hear = self._announcements.hear


@pytest.fixture
def server() -> Iterator[tf.train.Server]:
    with tf.train.Server({"ps": ["localhost:0"], "worker": ["localhost:1"]}, "ps", 0) as running:
        yield running


def address_of(server: tf.train.Server) -> str:
    return f"localhost:{server.port}"


def test_a_job_goes_on_when_its_parameter_server_comes_back_at_another_port() -> None:
    before, after, worker = free_addresses(3)
    programs = [Program(REPLICA, before, worker, "ps", "stay"), Program(REPLICA, before, worker, "worker", "stay")]
    try:
        programs[1].wait_for("step 20", 60.0)
        programs[0].kill()
        made = len(programs[1].output)
        programs.append(Program(REPLICA, after, worker, "ps", "announce"))
        programs[2].wait_for("serves at", 40.0)
        deadline_s = time.monotonic() + 40.0
        while not any(line.startswith("step 20") for line in programs[1].output[made:]):
            assert programs[1].is_running, "\n".join(programs[1].output[-30:])
            assert time.monotonic() < deadline_s, "\n".join(programs[1].output[-30:])
            time.sleep(0.05)
    finally:
        for program in programs:
            program.kill()


def test_a_task_is_found_where_it_announces_itself_if_nobody_was_where_it_was_known(server: tf.train.Server) -> None:
    (nowhere,) = free_addresses(1)
    heard = Heard(nowhere)
    stub = heard.stubs.find(PS, nowhere)
    with pytest.raises(UnavailableError):
        stub.status(1.0)
    heard.hear(PS, address_of(server), server.incarnation)
    assert heard.moved == [(PS, address_of(server))]
    assert stub.status(20.0).incarnation == server.incarnation
    assert heard.stubs.address_of(PS) == heard.stubs.current(PS, nowhere) == address_of(server)
    heard.hear(PS, address_of(server), server.incarnation)
    assert len(heard.moved) == 1
    heard.stubs.close()


def test_the_traffic_of_a_task_that_lives_is_led_nowhere_else(server: tf.train.Server) -> None:
    with tf.train.Server({"ps": ["localhost:0"], "worker": ["localhost:1"]}, "ps", 0) as other:
        heard = Heard(address_of(server))
        with pytest.raises(AlreadyExistsError, match="Stop one of the two"):
            heard.hear(PS, address_of(other), other.incarnation)
        silent = Heard("localhost:1", connected=server.incarnation)
        with pytest.raises(AlreadyExistsError, match="lives at localhost:1"):
            silent.hear(PS, address_of(other), other.incarnation)
        assert heard.moved == silent.moved == []


def test_what_does_not_answer_as_announced_is_not_believed(server: tf.train.Server) -> None:
    (nowhere,) = free_addresses(1)
    heard = Heard(nowhere)
    with pytest.raises(UnavailableError, match="does not find it"):
        heard.hear(PS, address_of(server), server.incarnation + 1)
    with pytest.raises(UnavailableError, match="does not find it"):
        heard.hear(PS, "localhost:9", server.incarnation)
    assert heard.moved == []


@pytest.mark.parametrize(
    ("task", "address", "kind", "words"),
    [
        (WORKER, "localhost:5", NotFoundError, "no other task of its cluster"),
        ("/job:ps/replica:0/task:7", "localhost:5", NotFoundError, "Describe the cluster with all tasks"),
        (PS, "0.0.0.0:5", InvalidArgumentError, "nobody can dial"),
        (PS, "localhost:0", InvalidArgumentError, "nobody can dial"),
        (PS, "", InvalidArgumentError, "Could not parse port"),
        (PS, "host:²", InvalidArgumentError, "Could not parse port"),
        (PS, "host:" + "1" * 5000, InvalidArgumentError, "Could not parse port"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(task: str, address: str, kind: type[OpError], words: str) -> None:
    with pytest.raises(kind, match=words) as refused:
        Heard("localhost:1").hear(task, address, 5)
    assert "\n" not in refused.value.message


def test_one_that_cannot_be_dialed_does_not_announce_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidArgumentError, match="name its host"):
        tf.train.Server({"ps": ["0.0.0.0:0"]}, insecure=True, announce=True)
    monkeypatch.setenv("WEFT_ANNOUNCE", "yes")
    with pytest.raises(InvalidArgumentError, match="WEFT_ANNOUNCE is 'yes'; expected 1"):
        tf.train.Server({"ps": ["localhost:0"]})
