"""The programs of docs/feature_columns.md run, and print what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_PAGE = (Path(__file__).parents[2] / "docs" / "feature_columns.md").read_text(encoding="utf-8")
_PROGRAMS = re.findall(r"```python\n(.*?)```", _PAGE, flags=re.S)


def test_the_page_has_programs() -> None:
    assert len(_PROGRAMS) == 2


def test_the_first_program_prints_the_shape_that_the_page_tells(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(_PROGRAMS[0], "feature_columns.md", "exec"), {})
    shape = capsys.readouterr().out.strip()
    assert f"It prints `{shape}`" in _PAGE


def test_the_second_program_cuts_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(_PROGRAMS[1], "feature_columns.md", "exec"), {})
    assert re.findall(r"part_\d", capsys.readouterr().out) == [f"part_{number}" for number in range(4)]
