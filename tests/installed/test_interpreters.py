"""Which interpreters the installation is tried with: commands, and versions that pyenv has without having chosen them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tools.try_installation import interpreter


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Make a command, a shell script, in a folder that alone is on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def make(name: str, script: str) -> Path:
        file = folder / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        return file

    return make


def test_a_command_that_runs_is_taken(command) -> None:
    command("python3.12", "echo Python 3.12.1")
    assert interpreter("python3.12") == "python3.12"
    assert interpreter(sys.executable) == sys.executable


def test_one_that_is_not_there_is_none(command) -> None:
    assert interpreter("python3.12") is None
    command("python3.12", "exit 127")
    assert interpreter("python3.12") is None


def test_a_version_that_pyenv_has_and_has_not_chosen_is_found(command, tmp_path: Path) -> None:
    command("python3.12", "exit 127")
    command("pyenv", f'[ "$1 $2" = "prefix 3.12" ] && echo {tmp_path}/3.12.1')
    assert interpreter("python3.12") is None, "a version that was taken away"
    python = tmp_path / "3.12.1" / "bin" / "python"
    python.parent.mkdir(parents=True)
    os.symlink(sys.executable, python)
    assert interpreter("python3.12") == str(python)
    assert interpreter("python3.13") is None
