"""`weft launch` as the tests of schedulers start it, and what they all ask of a job that fails."""

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def launching(*options, **variables):
    """A function that starts `weft launch` with these options and those that it is given; what it has started is killed."""
    started = []

    def start(*arguments):
        command = [sys.executable, "-m", "weft", "launch", *options, *arguments]
        environment = {**os.environ, **variables}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        started.append(subprocess.Popen(command, cwd=ROOT, env=environment, **pipes))
        return started[-1]

    try:
        yield start
    finally:
        for each in started:
            each.kill()
            each.communicate()


def trains_to_its_end(launch, kind, folder):
    """Start a program of a user's kind; it ends by itself and well, and what its tasks print comes back."""
    # Where a server may be reached from elsewhere it reads what lies beside the program's folder when it is told so.
    roots = ("--env", f"WEFT_FILE_ROOTS={folder}")
    process = launch(*roots, *kind.options, kind.program, *kind.arguments_for(folder / "model"))
    output, notes = process.communicate(timeout=300)
    assert process.returncode == 0, notes + output
    kind.check(output, folder / "model")


def goes_on_after_a_kill(launch, kind, folder):
    """Start a program whose last worker is killed in the midst of its training: it comes back, and the job ends well."""
    arguments = (f"--model={folder}/model", "--steps=150", "--task_s=0.05")
    process = launch("--max-restarts", "1", *kind.options, kind.program, *arguments)
    started = (re.search(r"worker:1 started, process (\d+)", note) for note in iter(process.stderr.readline, ""))
    number = next(filter(None, started))[1]
    lines = iter(process.stdout.readline, "")
    assert any("worker 1 trains" in line for line in lines)
    os.kill(int(number), signal.SIGKILL)
    output = "".join(lines)
    notes = process.stderr.read()
    assert process.wait(timeout=60) == 0, notes + output
    assert "worker:1 failed with SIGKILL" in notes
    assert "it is started again" in notes
    kind.check(output, folder / "model")


def fails_with_its_words(launch, folder):
    """Start a task that prints and fails; its line and its exit code come back."""
    program = folder / "program.py"
    program.write_text("import sys\nprint('before')\nsys.exit(7)\n")
    process = launch(str(program))
    output, notes = process.communicate(timeout=300)
    assert process.returncode == 7
    assert "worker:0 | before" in output
    assert "worker:0 failed with exit code 7" in notes
