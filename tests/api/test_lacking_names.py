"""The names of TensorFlow that weft is said to lack are lacking: one that is added leaves the list, and the hints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import weft as tf
from weft.api import missing_names

_LIST = Path(tf.__file__).parent / "api" / "lacking_names.txt"
_HINTS = {**missing_names._RENAMED, **missing_names._REASONS}
# TensorFlow's modules that weft has in part: the hint is for what is lacking in them.
_IN_PART = {"distribute", "contrib.distribute"}


def _is_there(name: str) -> bool:
    found: object = tf
    for part in name.rstrip(".").split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            return False
    return True


def _lacking() -> list[str]:
    return _LIST.read_text(encoding="utf-8").split()


def test_no_name_of_the_list_is_there() -> None:
    assert [name for name in _lacking() if _is_there(name)] == []


def test_no_hint_is_for_a_name_that_is_there() -> None:
    assert [name for name in _HINTS if name not in _IN_PART and _is_there(name)] == []
    assert [name for name in _IN_PART if not any(each.startswith(f"{name}.") for each in _lacking())] == []


@pytest.mark.parametrize("hint", sorted(set(_HINTS.values())))
def test_what_a_hint_recommends_is_there(hint: str) -> None:
    own = (name for name in re.findall(r"\b(?:tf|weft)\.([a-zA-Z_][\w.]*\w)", hint))
    assert [name for name in own if not _is_there(name)] == []
    pages = re.findall(r"docs/\w+\.md", hint)
    assert [page for page in pages if not (Path(tf.__file__).parent.parent / page).is_file()] == []


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: tf.mul, r"Use tf\.multiply in its place"),
        (lambda: tf.lite, r"TensorFlow has tf\.lite; weft does not\. weft trains and serves"),
        (lambda: tf.distribute.cluster_resolver.TPUClusterResolver, r"weft does not\. weft has the strategies of docs/strat"),
        (lambda: tf.nn.multiply, r"There is tf\.multiply\."),
        (lambda: tf.Sesion, r"Did you mean 'Session'\?"),
    ],
)
def test_a_program_is_told_what_to_use_instead(ask, told) -> None:
    with pytest.raises(AttributeError, match=told):
        ask()


def test_tools_that_look_for_private_names_get_no_advice() -> None:
    with pytest.raises(AttributeError) as error:
        _ = tf._Session
    assert str(error.value) == "module 'weft' has no attribute '_Session'"
