"""A command whose output nobody reads, or which Ctrl-C ends, says nothing more; its exit code is a shell's for the signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from weft.cli import command_line, completion
from weft.cli.guarded import guarded


def _interrupted() -> int:
    raise KeyboardInterrupt


def test_ctrl_c_ends_a_command_without_a_traceback() -> None:
    assert guarded(_interrupted) == 128 + signal.SIGINT
    assert guarded(lambda: 3) == 3


def test_ctrl_c_of_the_program_of_weft_run_is_the_programs(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("raise KeyboardInterrupt\n")
    ran = subprocess.run(
        [sys.executable, "-m", "weft", "run", str(program)], stderr=subprocess.PIPE, text=True, timeout=60, check=False
    )
    assert "KeyboardInterrupt" in ran.stderr
    assert ran.returncode == -signal.SIGINT


@pytest.mark.parametrize("words", ["completion bash", "k8s manifest --name digits --image weft --format json train.py"])
def test_a_reader_that_has_gone_away_is_no_error(words: str, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as nobody:
        ran = subprocess.run(
            [sys.executable, "-m", "weft", *words.split()],
            cwd=tmp_path, stdout=nobody, stderr=subprocess.PIPE, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert ran.stderr == ""
    assert ran.returncode == 128 + signal.SIGPIPE


def test_the_command_guards_what_its_subcommands_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion, "_run", lambda _: _interrupted())
    assert command_line.main(["completion", "bash"]) == 128 + signal.SIGINT
