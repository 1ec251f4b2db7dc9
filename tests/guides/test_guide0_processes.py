"""Guide 0, second half: servers that come late, leave and come back; waiting for initialization; the final example."""

from __future__ import annotations

import time

import pytest

import weft as tf
from tests.guides.conftest import StartProgram
from weft.distributed.server.local_cluster import LocalCluster, free_addresses


def test_a_run_blocks_until_all_servers_have_joined(start_program: StartProgram) -> None:
    program = start_program("tasks.py", "blocks_until_all_joined", *free_addresses(2))
    program.wait_for("server 1: no-op run!")
    assert program.output == ["server 1: running no-op...", "server 2: connecting", "server 1: no-op run!"]


def test_a_server_that_leaves_disturbs_only_runs_that_need_it_and_may_come_back() -> None:
    with tf.device("/job:local/task:0"):
        stays = tf.Variable(1.0, name="stays")
    with tf.device("/job:local/task:1"):
        leaves = tf.no_op()
        lost = tf.Variable(1.0, name="lost")
    with LocalCluster(local=2) as cluster, tf.Session(cluster.target("local", 0)) as session:
        session.run(tf.global_variables_initializer())
        session.run(leaves)
        cluster.kill("local", 1)
        assert session.run(stays) == 1.0
        started = time.monotonic()
        with pytest.raises((tf.errors.UnavailableError, tf.errors.AbortedError), match="/job:local/replica:0/task:1"):
            session.run(leaves)
        assert time.monotonic() - started < 10
        assert session.run(stays) == 1.0

        cluster.restart("local", 1)
        with pytest.raises(tf.errors.AbortedError, match="/job:local/replica:0/task:1 was restarted"):
            session.run(leaves)
        session.run(leaves)
        with pytest.raises(tf.errors.FailedPreconditionError, match="lost"):
            session.run(lost)
        session.run(lost.initializer)
        assert session.run([stays, lost]) == [1.0, 1.0]


def test_a_program_survives_a_server_that_ends_and_starts_again(start_program: StartProgram) -> None:
    output = start_program("tasks.py", "a_server_leaves_and_comes_back", *free_addresses(2)).wait(
        expected=["task:1 was restarted"]
    )
    warnings = [line for line in output if line.startswith("WARNING:")]
    assert [line for line in output if line not in warnings] == [
        "server 1: success!",
        "server 2: dying...",
        "server 1: failed without task:1",
        "restarting server 2",
        "server 1: success again!",
    ]
    assert ["task:1 was restarted" in warning for warning in warnings] == [True]


def test_a_task_waits_until_another_has_initialized_the_variables(start_program: StartProgram) -> None:
    program = start_program("tasks.py", "waits_for_initialization", *free_addresses(2))
    output = program.wait()
    assert output[0] == "server 1: waiting for connection..."
    assert output[-1] == "server 1: variables initialized!"
    assert output.index("server 1: waiting for initialization...") < output.index("server 2: initializing")


def test_names_of_uninitialized_variables_have_a_truth_and_a_length() -> None:
    var = tf.Variable(0.0, name="var")
    with tf.Session() as session:
        names = session.run(tf.report_uninitialized_variables())
        assert names
        assert names.tolist() == [b"var"]
        session.run(var.initializer)
        assert not session.run(tf.report_uninitialized_variables())
        assert len(session.run([tf.report_uninitialized_variables()])[0]) == 0


@pytest.mark.parametrize("steps_of_the_parent", [0, 3])
def test_the_final_example_counts_to_ten(start_program: StartProgram, steps_of_the_parent: int) -> None:
    program = start_program("parameter_server_and_workers.py", steps_of_the_parent, *free_addresses(3))
    for task in ("Parameter server", "Worker 0", "Worker 1"):
        program.wait_for(f"{task}: blocking...")
    assert program.is_running
    output = program.output
    if steps_of_the_parent:
        assert output.pop(0) == f"Notebook: var has value {steps_of_the_parent:.1f}"

    server = [line for line in output if line.startswith("Parameter server")]
    assert server[:4] == [
        "Parameter server: waiting for cluster connection...",
        "Parameter server: cluster ready!",
        "Parameter server: initializing variables...",
        "Parameter server: variables initialized",
    ]
    values = [float(line.rpartition(" ")[2]) for line in server[4:-1]]
    assert values == sorted(values)
    assert values[-1] == 10.0
    for number in range(2):
        lines = [line for line in output if line.startswith(f"Worker {number}") and "for variable" not in line]
        assert lines == [
            f"Worker {number}: waiting for cluster connection...",
            f"Worker {number}: cluster ready!",
            f"Worker {number}: variables initialized",
            *[f"Worker {number}: incrementing var"] * 5,
            f"Worker {number}: blocking...",
        ]
    assert len(output) == len(server) + sum(line.startswith("Worker") for line in output)


def test_a_child_forked_after_the_parent_compiled_code_says_so_and_does_not_hang(start_program: StartProgram) -> None:
    program = start_program("forks_after_compiling.py")
    # JAX warns of the fork before.
    assert program.wait(expected=[r"os\.fork\(\) was called"])[-2:] == ["child: RuntimeError: spawn", "child ended with 0"]


def test_a_child_forked_beside_servers_shares_no_event_loop_with_them(start_program: StartProgram) -> None:
    # What one process opened would be reported to all of them, and end the others.
    assert start_program("forks_with_servers.py", *free_addresses(2)).wait() == [
        "parent: 1.0",
        "event loops shared with the parent: 0",
        "parent: 1.0",
    ]
