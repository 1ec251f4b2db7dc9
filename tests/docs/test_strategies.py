"""The programs of the page on strategies run, one after the other as the page has them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import weft as tf

_PAGE = (Path(__file__).parents[2] / "docs" / "strategies.md").read_text(encoding="utf-8")


def test_the_programs_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = re.findall(r"```python\n(.*?)```", _PAGE, flags=re.S)
    assert len(programs) == 2
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    with tf.Graph().as_default():
        for number, program in enumerate(programs):
            exec(compile(program, f"strategies.md, program {number}", "exec"), names)
    tf.summary.FileWriterCache.clear()
    assert list(tmp_path.glob("line/checkpoint"))
