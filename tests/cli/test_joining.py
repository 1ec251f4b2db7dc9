"""A task that joins a cluster which runs: which one it becomes, and what it is told."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

import weft as tf
from weft.cli.command_line import main
from weft.cli.joining import joined_place
from weft.jobs.description import JobError
from weft.platform.hosts.free_ports import free_ports


@pytest.fixture
def cluster() -> Iterator[dict[str, list[str]]]:
    """Of a parameter server that runs and three workers, the first of which does."""
    addresses = [f"localhost:{port}" for port in free_ports(4)]
    cluster = {"ps": addresses[:1], "worker": addresses[1:]}
    with tf.train.Server(cluster, "ps", 0), tf.train.Server(cluster, "worker", 0):
        yield cluster


def test_a_task_becomes_the_last_worker_that_is_not_there(cluster: dict[str, list[str]]) -> None:
    place = joined_place(cluster["ps"][0])
    assert (place.name, place.cluster) == ("worker:2", cluster)
    with tf.train.Server(cluster, "worker", 2):
        assert joined_place(cluster["ps"][0]).name == "worker:1"
        with tf.train.Server(cluster, "worker", 1), pytest.raises(JobError, match="its 3 workers are all there"):
            joined_place(cluster["ps"][0])


def test_a_task_may_say_which_it_is_and_where(cluster: dict[str, list[str]]) -> None:
    place = joined_place(cluster["ps"][0], "worker:1", "newhost:2222")
    assert place.address == "newhost:2222"
    assert place.cluster["worker"] == [cluster["worker"][0], "newhost:2222", cluster["worker"][2]]


def test_a_task_that_is_there_or_that_the_cluster_has_not_is_refused(cluster: dict[str, list[str]]) -> None:
    with pytest.raises(JobError, match=f"--as worker:0: it is there already, at {cluster['worker'][0]}"):
        joined_place(cluster["ps"][0], "worker:0")
    with pytest.raises(JobError, match="--as worker:3: this is worker:3, and the cluster has 3 worker: worker:0 to worker:2"):
        joined_place(cluster["ps"][0], "worker:3")
    with pytest.raises(JobError, match="--as boss:0: this is a task of 'boss', and the cluster has ps, worker"):
        joined_place(cluster["ps"][0], "boss:0")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--as", "worker:1"], "--as is for a task that joins a cluster: add --join TARGET"),
        (["--address", "a:1"], "--address is for a task that joins a cluster: add --join TARGET"),
        (["--join", "nowhere"], "is no target such as grpc://host:port"),
        (["--join", "grpc://a:1", "--address", "a"], "argument --address: expected HOST:PORT, got 'a'"),
    ],
)
def test_wrong_words_get_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["task", *words, __file__])
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_cluster_that_does_not_answer_is_a_failure_and_no_wrong_word(capsys: pytest.CaptureFixture[str]) -> None:
    (port,) = free_ports(1)
    assert main(["task", "--join", f"grpc://localhost:{port}", __file__]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"weft task: grpc://localhost:{port}: The server at localhost:{port} is unavailable")
    assert "nothing listens there" in error


@pytest.mark.skipif(sys.platform != "linux", reason="the places of a host's processes are Linux's abstract sockets")
def test_tasks_that_join_at_once_get_a_place_each(cluster: dict[str, list[str]]) -> None:
    assert [joined_place(cluster["ps"][0]).name for _ in range(2)] == ["worker:2", "worker:1"]
    with pytest.raises(JobError, match=f"lacks worker:1 at {cluster['worker'][1]}, worker:2 at .*add --address HOST:PORT"):
        joined_place(cluster["ps"][0])
    with pytest.raises(JobError, match="--as worker:1: another process of this host has begun to be it"):
        joined_place(cluster["ps"][0], "worker:1")


@pytest.mark.skipif(sys.platform != "linux", reason="as above")
def test_a_place_is_that_of_the_process_and_of_the_program_that_it_becomes(cluster: dict[str, list[str]]) -> None:
    program = "import os, sys\nfrom weft.cli.joining import joined_place\nprint(joined_place(sys.argv[1]).name, flush=True)\n"
    program += "os.execv(sys.executable, [sys.executable, '-c', 'print(0, flush=True); input()'])"
    command = [sys.executable, "-c", program, cluster["ps"][0]]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert [other.stdout.readline() for _ in range(2)] == ["worker:2\n", "0\n"]
        assert joined_place(cluster["ps"][0]).name == "worker:1"
        other.communicate("\n")
    assert joined_place(cluster["ps"][0]).name == "worker:2"


def test_a_place_whose_address_another_host_has_is_left_to_it() -> None:
    ps, own = (f"localhost:{port}" for port in free_ports(2))
    # An address for documentation, which no host has.
    cluster = {"ps": [ps], "worker": [own, "192.0.2.1:2222"]}
    with tf.train.Server(cluster, "ps", 0):
        assert joined_place(ps).name == "worker:0"
        assert joined_place(ps, own_address="localhost:0").name == "worker:1"
