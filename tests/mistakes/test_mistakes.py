"""Whoever makes a typical mistake reads which object it is about, what was expected and found, and what to do next."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mistakes.running import Mistake, load, shown

_CATALOGUES = sorted((Path(__file__).parent / "programs").glob("*.txt"))
_MISTAKES = [mistake for catalogue in _CATALOGUES for mistake in load(catalogue)]
_LONGEST_TRACEBACK = 25


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", "weft")


@pytest.mark.parametrize("mistake", [pytest.param(each, id=each.title) for each in _MISTAKES])
def test_a_mistake_is_explained(mistake: Mistake) -> None:
    error, text = shown(mistake)
    assert error == mistake.error, text
    lacking = [part for part in mistake.parts if part not in text]
    assert not lacking, f"{lacking} not in:\n{text}"


def _pins(part: str) -> bool:
    return "mistake.py" not in part or "(mistake.py" in part


def test_the_table_has_as_many_mistakes_as_it_had() -> None:
    assert len(_MISTAKES) >= 2050
    assert len({mistake.title for mistake in _MISTAKES}) == len(_MISTAKES)
    # A line of the program alone, or a file's name, says nothing of the message.
    assert [mistake.title for mistake in _MISTAKES if not any(map(_pins, mistake.parts))] == []


def test_a_traceback_has_the_programs_lines_and_one_of_weft() -> None:
    mistake = next(each for each in _MISTAKES if each.title == "uninitialized variable")
    _, text = shown(mistake)
    frames = [line for line in text.partition("was built at")[0].splitlines() if line.startswith('  File "')]
    assert sum("/weft/" in frame for frame in frames) == 1
    assert frames[-2].startswith('  File "mistake.py", line 2')


def test_a_cause_that_the_message_tells_is_not_shown_once_more() -> None:
    mistake = next(each for each in _MISTAKES if each.title == "a string handle of an iterator of another session")
    _, text = shown(mistake)
    assert text.count("IteratorState does not exist") == 1
