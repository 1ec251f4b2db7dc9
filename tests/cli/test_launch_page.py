"""`weft launch --watch`: the live page of the job that is launched."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from weft.cli.launch_page import WatchedDisplay

ROOT = Path(__file__).parents[2]


class Shown:
    """A display that keeps what it is told."""

    def __init__(self):
        self.lines, self.notes = [], []

    def task_line(self, name, line):
        self.lines.append((name, line))

    def task_state(self, name, state):
        pass

    def progress(self, text):
        pass

    def note(self, text):
        self.notes.append(text)


def test_a_display_without_a_page_is_the_one_inside():
    shown = Shown()
    with WatchedDisplay(shown, 0) as display:
        display.task_line("ps:0", "a line")
        display.note("a note")
    assert (shown.lines, shown.notes) == ([("ps:0", "a line")], ["a note"])


@pytest.mark.slow
def test_a_page_that_cannot_be_served_is_told_of_and_keeps_nothing_from_running():
    shown = Shown()
    with WatchedDisplay(shown, 0) as display:
        display.follow("no address")
        display.note("goes on")
    assert shown.notes[0].startswith("there is no live page: ")
    assert shown.notes[1:] == ["goes on"]


@pytest.mark.slow
def test_the_page_of_a_launched_job_shows_its_tasks_and_their_lines_and_ends_with_it(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import json, os, signal\nimport weft as tf\n"
        "place = json.loads(os.environ['TF_CONFIG'])\n"
        "server = tf.train.Server(place['cluster'], place['task']['type'], place['task']['index'])\n"
        "print('it serves', flush=True)\nsignal.pause()\n"
    )
    command = [sys.executable, "-m", "weft.cli", "launch", "--watch", "--no-flags", "--grace", "2", str(program)]
    # A shell that runs tests in the background has SIGINT ignored, and a child would inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "JAX_PLATFORMS": "cpu"},
        )  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, before)
    try:
        noted = process.stderr.readline()
        assert "live page at http://localhost:" in noted
        assert process.stdout.readline() == "worker:0 | it serves\n"
        url = noted.split()[-1]
        with urlopen(f"{url}events", timeout=60) as stream:
            seen = ""
            while "serving" not in seen or "worker:0 | it serves" not in seen:
                seen += stream.readline().decode()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode == 130
        with pytest.raises(OSError, match="refused"):
            urlopen(url, timeout=10)
    finally:
        process.kill()
        process.communicate()
