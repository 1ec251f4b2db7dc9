"""The main job, as a user runs it: real processes, real sockets, real data."""

import re
import socket
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "examples" / "digits.py"


def accuracy_and_step(output):
    accuracy, step = re.search(r"worker:0 \| test accuracy ([\d.]+)% after step (\d+)", output).groups()
    return float(accuracy), int(step)


@pytest.mark.timeout(240)
def test_two_servers_and_two_workers_learn_the_digits_and_resume(run, tmp_path):
    launch = ["-m", "weft.cli", "launch", "--ps", 2, "--worker", 2, PROGRAM, f"--train_dir={tmp_path}"]

    first = run(*launch)
    assert first.returncode == 0, first.stderr
    assert "worker:0 | starting from scratch" in first.stdout
    accuracy, last_step = accuracy_and_step(first.stdout)
    assert accuracy >= 97
    assert 3000 <= last_step < 3010

    second = run(*launch, "--train_steps=100")
    assert second.returncode == 0, second.stderr
    resumed_step = int(re.search(r"resuming from the checkpoint of step (\d+)", second.stdout)[1])
    # The other worker may still make a step between the chief's last checkpoint and its test.
    assert 3000 <= resumed_step <= last_step
    accuracy, last_step = accuracy_and_step(second.stdout)
    assert accuracy >= 97
    assert resumed_step + 100 <= last_step < resumed_step + 110


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--job_name=master"], "--job_name is 'ps' or 'worker', got 'master'"),
        (["--job_name=worker", "--task_index=2"], "--task_index=2 is no task of job 'worker': --worker_hosts names 2"),
        (["--job_name=ps", "--task_index=-1"], "--task_index=-1 is no task of job 'ps': --ps_hosts names 1"),
        (["--job_name=worker", "--ps_hosts="], "several workers need a parameter server"),
        (["--job_name=worker", "--train_steps=0"], "--train_steps, --batch_size and --hidden_units are at least 1"),
    ],
)
def test_wrong_flags_get_one_line(run, arguments, message):
    done = run(PROGRAM, "--ps_hosts=localhost:1", "--worker_hosts=localhost:2,localhost:3", *arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_port_in_use_gets_one_line(run):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = run(PROGRAM, f"--worker_hosts=127.0.0.1:{port}", "--job_name=worker")
    assert done.returncode == 1
    assert str(port) in done.stderr
    assert "Traceback" not in done.stderr


def test_an_address_that_does_not_resolve_gets_one_line(run):
    done = run(PROGRAM, "--worker_hosts=nowhere.invalid:2222", "--job_name=worker")
    assert done.returncode == 1
    assert "nowhere.invalid" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_damaged_checkpoint_gets_one_line(run, tmp_path):
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-7"\n')
    (tmp_path / "model.ckpt-7.index").write_bytes(b"this is no table")
    (tmp_path / "model.ckpt-7.data-00000-of-00001").write_bytes(b"")
    launch = ["-m", "weft.cli", "launch", "--worker", 1, PROGRAM, f"--train_dir={tmp_path}"]
    done = run(*launch)
    assert done.returncode == 1
    assert "model.ckpt-7" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize("state", ['model_checkpoint_path: "model.ckpt-7"\n', "this is no state"])
def test_a_lost_checkpoint_gets_one_line(run, tmp_path, state):
    (tmp_path / "checkpoint").write_text(state)
    done = run("-m", "weft.cli", "launch", "--worker", 1, PROGRAM, f"--train_dir={tmp_path}")
    assert done.returncode == 1
    assert f"{tmp_path / 'checkpoint'} names no checkpoint that is there" in done.stdout
    assert "Traceback" not in done.stdout
    assert (tmp_path / "checkpoint").read_text() == state
