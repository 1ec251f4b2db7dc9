"""The manual page that the package installs has every command and option; `make manual` writes it."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from weft.cli.command_line import COMMANDS, command_parser

ROOT = Path(__file__).parents[2]
_PAGE = ROOT / "docs" / "weft.1"


def _words(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from (option for option in action.option_strings if option not in ("-h", "--help"))
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield name
                yield from _words(inner)


def test_the_page_has_every_command_and_option() -> None:
    told = _PAGE.read_text(encoding="utf-8").replace("\\-", "-")
    assert [word for word in _words(command_parser([*COMMANDS])) if word not in told] == [], "run make manual"


def test_the_package_installs_the_page() -> None:
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert built["shared-data"] == {"docs/weft.1": "share/man/man1/weft.1"}


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff here")
def test_the_page_is_roff_without_a_warning() -> None:
    ran = subprocess.run(["groff", "-man", "-Tutf8", "-ww", str(_PAGE)], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stderr == ""
    assert "weft checkpoint" in " ".join(ran.stdout.replace("\x1b[1m", "").replace("\x1b[0m", "").split())
