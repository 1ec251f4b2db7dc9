"""The command as a user types it."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from weft.cli.command_line import main

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "weft.cli", "launch"]


@pytest.fixture
def launch():
    """Start the command with arguments; at the end of the test it is killed."""
    started = []

    def start(*args, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **options}
        # A shell that runs tests in the background has SIGINT ignored, and a child would inherit that.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            process = subprocess.Popen([*COMMAND, *args], cwd=ROOT, **options)
        finally:
            signal.signal(signal.SIGINT, before)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["launch"], "the following arguments are required: PROGRAM"),
        (["launch", "none.py"], "the program 'none.py' does not exist"),
        (["launch", "."], "the program '.' is not a file"),
        (["launch", "--ps", "-1", __file__], "--ps: expected a number of tasks, 0 or more, got '-1'"),
        (["launch", "--worker", "two", __file__], "--worker: expected a number of tasks, 0 or more, got 'two'"),
        (["launch", "--worker", "0", __file__], "there is no task to start"),
        (["launch", "--chief", "2", __file__], "--chief: a cluster has at most one, got '2'"),
        (["launch", "--grace", "soon", __file__], "--grace: expected seconds, 0 or more, got 'soon'"),
        (["launch", "--workers=2", __file__], "unrecognized arguments: --workers=2"),
    ],
)
def test_wrong_input_gets_one_line_and_exit_code_2(capsys, arguments, message):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_options_after_the_program_are_the_programs(launch, program):
    process = launch("--worker", "1", program(worker="print(args)"), "--ps", "3", "--", "-x")
    assert process.communicate()[0] == "worker:0 | ['--ps', '3', '--', '-x']\n"
    assert process.returncode == 0


def test_help_tells_what_the_command_does(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["launch", "--help"])
    assert caught.value.code == 0
    assert "--ps N" in capsys.readouterr().out


def test_ctrl_c_stops_all_tasks_and_returns_130(launch, program):
    process = launch("--ps", "1", "--worker", "1", program(ps="signal.pause()", worker="print('up')\nsignal.pause()"))
    assert process.stdout.readline() == "worker:0 | up\n"
    process.send_signal(signal.SIGINT)
    _, notes = process.communicate()
    assert process.returncode == 130
    assert "stopping ps:0, worker:0" in notes
    assert "Traceback" not in notes


def test_a_second_ctrl_c_kills(launch, program):
    deaf = "signal.signal(signal.SIGTERM, lambda *_: print('no'))\nprint('up')\nwhile True:\n    signal.pause()"
    process = launch("--worker", "1", program(worker=deaf))
    assert process.stdout.readline() == "worker:0 | up\n"
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "worker:0 | no\n"
    process.send_signal(signal.SIGINT)
    _, notes = process.communicate()
    assert process.returncode == 130
    assert "killing worker:0" in notes


def test_no_task_outlives_a_launcher_that_is_killed(launch, program):
    # The workers and their children hold the pipe on descriptor 3; it ends when the last of them is gone.
    read_end, write_end = os.pipe()
    worker = f"subprocess.Popen(['sleep', '1000'], pass_fds=[{write_end}])\nprint('up')\nsignal.pause()"
    text = f"held = os.open('/proc/{os.getpid()}/fd/{write_end}', os.O_WRONLY)\nos.dup2(held, {write_end})\n{worker}"
    process = launch("--worker", "2", program(worker=text))
    assert process.stdout.readline().endswith("| up\n")
    assert process.stdout.readline().endswith("| up\n")
    os.close(write_end)
    process.kill()
    with os.fdopen(read_end, "rb") as pipe:
        assert pipe.read() == b""


def test_a_reader_that_goes_away_ends_the_job(launch, program):
    process = launch("--worker", "1", program(worker="while True:\n    print('y')\n    time.sleep(0.01)"))
    process.stdout.readline()
    process.stdout.close()
    notes = process.stderr.read()
    assert process.wait() == 128 + signal.SIGPIPE
    assert "Traceback" not in notes


def test_a_terminal_gets_colours_and_a_status_line(launch, program):
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    environment.pop("NO_COLOR", None)
    process = launch("--worker", "1", program(worker="print('hello')"), stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    shown = b""
    try:
        while data := os.read(master, 4096):
            shown += data
    except OSError:
        # Linux reports the end of a terminal's other side as an error.
        pass
    os.close(master)
    assert process.wait() == 0
    text = shown.decode()
    assert "\x1b[36mworker:0 │ \x1b[0mhello" in text
    assert "0:00   worker: 1 running" in text
    assert "worker:0 done after" in text


_LATE = """
server = tf.train.Server(cluster, job, index, limits=tf.train.ServerLimits(lost_job_s=1.0))
if job == "ps":
    try:
        server.join()
    finally:
        gone.touch()
while index == 1 and not gone.exists():
    time.sleep(0.05)
with tf.device("/job:ps/task:0"):
    step = tf.train.get_or_create_global_step()
with tf.train.MonitoredTrainingSession(server.target, index == 0) as session:
    session.run(step)
"""


@pytest.mark.slow
def test_a_worker_that_begins_when_the_servers_have_ended_with_the_training_is_not_waited_for(launch, tmp_path):
    program = tmp_path / "program.py"
    lines = [
        "import sys, time, pathlib, weft as tf",
        f"gone = pathlib.Path({str(tmp_path / 'gone')!r})",
        "flags = dict(a[2:].split('=', 1) for a in sys.argv[1:5])",
        "job, index = flags['job_name'], int(flags['task_index'])",
        "cluster = {each: flags[each + '_hosts'].split(',') for each in ('ps', 'worker')}",
    ]
    program.write_text("\n".join(lines) + _LATE)
    process = launch("--ps", "1", "--worker", "2", str(program))
    output, notes = process.communicate(timeout=150)
    assert process.returncode == 0, notes + output
    assert "worker:1 waits for ps:0, which has ended with the training: it is not waited for" in notes
