"""The programs of the page on estimators run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import weft as tf
from tests import alarms

_PAGE = (Path(__file__).parents[2] / "docs" / "estimators.md").read_text(encoding="utf-8")
_PROGRAMS = re.findall(r"^## (.*?)\n.*?```python\n(.*?)```", _PAGE, flags=re.M | re.S)


def test_the_page_has_a_program_of_each_kind() -> None:
    assert len(_PROGRAMS) == 7


@pytest.mark.parametrize(("title", "program"), _PROGRAMS, ids=[title for title, _ in _PROGRAMS])
def test_a_program_of_the_page_runs_and_alarms_nobody(
    title: str, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    with tf.Graph().as_default():
        exec(compile(program, title, "exec"), {})
    tf.summary.FileWriterCache.clear()
    assert list(tmp_path.glob("*/checkpoint"))
    assert alarms.unexpected(alarms.logged(caplog.records)) == []
