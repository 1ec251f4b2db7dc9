"""`weft task`: the program runs in the place that the environment tells."""

import json
import os
import subprocess
import sys

import pytest

from weft.cli.command_line import main
from weft.protocol.limits import ServerLimits

SHOW = "import json, os, sys\nprint("
SHOW += "json.dumps([sys.argv[1:], os.environ['TF_CONFIG'], os.environ['WEFT_STOP_SIGNALS'], os.getppid(), "
SHOW += "os.environ.get('WEFT_TELLS_END'), os.environ['WEFT_LIMITS']]))"


@pytest.fixture
def show(tmp_path):
    """Run a program that shows what it is told."""
    program = tmp_path / "show.py"
    program.write_text(SHOW)

    def run(*arguments, **environment):
        command = [sys.executable, "-m", "weft", "task", *arguments, str(program), "own"]
        told = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "TF_CONFIG"))}
        return subprocess.run(command, env={**told, **environment}, capture_output=True, text=True, timeout=60)

    return run


SLURM = {"SLURM_PROCID": "2", "SLURM_STEP_TASKS_PER_NODE": "3", "SLURM_STEP_NODELIST": "localhost"}


def test_the_program_takes_the_processs_place_and_is_told_its_own(show):
    ran = show("--ps=1", "--port-base=9000", **SLURM)
    arguments, config, signals, parent, tells_end, limits = json.loads(ran.stdout)
    assert arguments == [
        "--ps_hosts=localhost:9000", "--worker_hosts=localhost:9001,localhost:9002", "--job_name=worker", "--task_index=1",
        "own",
    ]  # fmt: skip
    assert json.loads(config)["task"] == {"type": "worker", "index": 1}
    assert signals == "SIGTERM,SIGUSR1"
    assert parent == os.getpid()
    assert tells_end == "1"
    assert limits == "absent_task_s=600"


def test_a_program_outside_of_the_cluster_or_whose_user_says_so_tells_nobody_of_its_end(show):
    def told(*arguments, **more):
        ran = show(*arguments, "--port-base=9000", **SLURM, **more)
        return json.loads(ran.stdout)[-2]

    assert told("--ps=1", "--worker=1", "--evaluator=1") is None
    assert told("--ps=1", WEFT_TELLS_END="0") == "0"


def test_what_the_environment_limits_wins_over_the_option(show):
    ran = show("--ps=1", "--port-base=9000", "--wait=5", **SLURM, WEFT_LIMITS="absent_task_s=7,max_sessions=3")
    limits = ServerLimits.from_text(json.loads(ran.stdout)[-1])
    assert (limits.absent_task_s, limits.max_sessions) == (7.0, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["task", __file__], "no scheduler has started this process"),
        (["task", "--port-base=0", __file__], "--port-base: expected a port, 1 to 65535, got '0'"),
        (["task", "none.py"], "the program 'none.py' does not exist"),
    ],
)
def test_wrong_input_gets_one_line(capsys, monkeypatch, arguments, message):
    for name in ("SLURM_PROCID", "TF_CONFIG", "WEFT_CLUSTER"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
