"""The `weft` command as a whole: what it says of itself, and of words that it does not know."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import subprocess
import sys

import pytest

import weft as tf
from weft.cli.command_line import COMMANDS, main


def _ends_with(arguments: list[str]) -> object:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    return caught.value.code


def test_help_names_every_command_and_what_it_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert _ends_with(["--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for name, (_, purpose) in COMMANDS.items():
        assert name in shown
        assert purpose in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_of_its_own(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _ends_with([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"usage: weft {command} ")
    assert len(shown.splitlines()) > 5


def test_help_loads_nothing_of_the_engine() -> None:
    program = """
import sys
from weft.cli.command_line import main
try:
    main(["--help"])
except SystemExit:
    print([name for name in ("jax", "numpy", "grpc", "rich", "asyncio", "weft.namespace") if name in sys.modules])
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


def test_versions_are_those_that_are_installed(capsys: pytest.CaptureFixture[str]) -> None:
    assert _ends_with(["--version"]) == 0
    weft, jax = map(importlib.metadata.version, ("weft", "jax"))
    assert weft == tf.WEFT_VERSION == tf.version.WEFT_VERSION
    wanted = f"weft {weft}, TensorFlow API {tf.VERSION}, jax {jax}, Python {platform.python_version()}\n"
    assert capsys.readouterr().out == wanted


def test_python_runs_the_command_as_a_module() -> None:
    ran = subprocess.run([sys.executable, "-m", "weft", "--version"], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.startswith("weft ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lunch"], "weft: error: there is no command 'lunch'; did you mean 'launch'? (see weft --help)"),
        (["xyzzy"], "weft: error: there is no command 'xyzzy' (see weft --help)"),
        (["launch", "--workers=2", "x.py"], "unrecognized arguments: --workers=2; did you mean '--worker'?"),
        (["stop", "--graze", "3", "grpc://a:1"], "did you mean '--grace'? (see weft stop --help)"),
        (["--verison"], "unrecognized arguments: --verison; did you mean '--version'?"),
        (["completion", "csh2"], "invalid choice: 'csh2'"),
    ],
)
def test_a_word_that_is_none_is_told_with_the_one_meant(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _ends_with(arguments) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_is_a_script_that_the_shell_reads(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "--worker" in script
    assert "saved-model" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True, timeout=30)
