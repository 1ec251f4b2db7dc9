"""`weft launch` as the tests of schedulers start it, and what they all ask of a job that fails."""

import os
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

    yield start
    for each in started:
        each.kill()
        each.communicate()


def fails_with_its_words(launch, folder):
    """Start a task that prints and fails; its line and its exit code come back."""
    program = folder / "program.py"
    program.write_text("import sys\nprint('before')\nsys.exit(7)\n")
    process = launch(str(program))
    output, notes = process.communicate(timeout=300)
    assert process.returncode == 7
    assert "worker:0 | before" in output
    assert "worker:0 failed with exit code 7" in notes
