"""The programs of docs/keras.md run."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import weft as tf
from tests import alarms

_PAGE = (Path(__file__).parents[2] / "docs" / "keras.md").read_text(encoding="utf-8")
_PROGRAMS = re.findall(r"(?:<!-- needs (\w+) -->\n)?```python\n(.*?)```", _PAGE, flags=re.S)


@pytest.fixture(autouse=True)
def _fresh_graph(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with tf.Graph().as_default():
        yield
    tf.keras.backend.clear_session()


def test_the_page_has_programs() -> None:
    assert len(_PROGRAMS) >= 4


@pytest.mark.parametrize(("needs", "program"), _PROGRAMS, ids=range(len(_PROGRAMS)))
def test_a_program_of_the_page_runs_and_alarms_nobody(needs: str, program: str, caplog: pytest.LogCaptureFixture) -> None:
    if needs and importlib.util.find_spec(needs) is None:
        pytest.skip(f"the program needs {needs}, which is not installed")
    exec(compile(program, "keras.md", "exec"), {})
    assert alarms.unexpected(alarms.logged(caplog.records)) == []
