"""The programs of the pages run as they stand, one after the other; the commands that they show are known to the command."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import weft as tf
from tests import alarms
from weft.cli.command_line import COMMANDS, command_parser

ROOT = Path(__file__).parents[2]
_DOCS = ROOT / "docs"
# These have tests of their own, which look at what the programs print and leave.
_ELSEWHERE = {"estimators.md", "explain.md", "feature_columns.md", "keras.md"}
_PYTHON = re.compile(r"^```python\n(.*?)^```", flags=re.M | re.S)
_CONSOLE = re.compile(r"^```console\n(.*?)^```", flags=re.M | re.S)
_PAGES = sorted(page for page in _DOCS.glob("*.md") if page.name not in _ELSEWHERE and _PYTHON.search(page.read_text("utf-8")))
_SHOWN = [
    (page.name, line.removeprefix("$ ").partition("  #")[0])
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(_DOCS.glob("*.md")))
    for block in _CONSOLE.findall(page.read_text("utf-8"))
    for line in block.replace("\\\n", " ").splitlines()
    if line.startswith("$ weft ")
]


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.name)
def test_the_programs_of_a_page_run_and_alarm_nobody(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TF_CONFIG", "")
    names: dict[str, object] = {}
    # In the graph that a program begins with, which some replace by another one.
    tf.reset_default_graph()
    for number, program in enumerate(_PYTHON.findall(page.read_text("utf-8"))):
        exec(compile(program, f"{page.name}, program {number}", "exec"), names)
    tf.summary.FileWriterCache.clear()
    tf.reset_default_graph()
    assert alarms.unexpected(alarms.logged(caplog.records)) == []


def test_the_first_program_of_the_readme_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = [each for each in _PYTHON.findall((ROOT / "README.md").read_text("utf-8")) if "create_local_server" in each]
    tf.reset_default_graph()
    names: dict[str, object] = {}
    exec(compile(program, "README.md", "exec"), names)
    server = names["server"]
    assert isinstance(server, tf.train.Server)
    server.stop()
    tf.reset_default_graph()
    assert capsys.readouterr().out.split() == re.findall(r"# (\d)", program)


@pytest.mark.slow
def test_the_cluster_of_the_readme_prints_what_it_says(tmp_path: Path) -> None:
    (program,) = [each for each in _PYTHON.findall((ROOT / "README.md").read_text("utf-8")) if "LocalCluster" in each]
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, "program.py"]
    environment = {**os.environ, **alarms.SHOWN}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100, check=True)
    assert alarms.unexpected(ran.stderr.splitlines()) == []
    assert ran.stdout.split() == re.findall(r"# ([\d.]+):", program)


def test_pages_show_commands() -> None:
    assert len(_SHOWN) > 12


@pytest.mark.parametrize(("page", "line"), _SHOWN)
def test_a_command_that_a_page_shows_has_known_words(page: str, line: str) -> None:
    words = shlex.split(line, comments=True)[1:]
    if ">" in words:
        words = words[: words.index(">")]
    if words[0].startswith("-"):
        return
    command_parser([*COMMANDS]).parse_args(words)
