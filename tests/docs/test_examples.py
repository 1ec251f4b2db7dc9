"""The names that public programs use most have an example in their docstrings, and it prints what it says.

An example runs in a graph of its own, with `tf`, `np` and a session `sess`. Names without a docstring of weft's own are left
out: types, flags, messages of protocol buffers.
"""

from __future__ import annotations

import doctest
import inspect
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

# In the order of how many of the programs that were counted use them.
_NAMES = (Path(__file__).parent / "most_used_names.txt").read_text(encoding="utf-8").split()


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[dict[str, Any]]:
    caplog.set_level("CRITICAL", "weft")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with tf.Graph().as_default(), tf.Session() as sess:
        yield {"tf": tf, "np": np, "sess": sess, "__name__": "__main__"}


def _documented(name: str) -> Any:
    found: Any = tf
    for part in name.split("."):
        found = getattr(found, part)
    return found


def test_the_list_has_the_150_names() -> None:
    assert len(set(_NAMES)) == len(_NAMES)
    assert len(_NAMES) >= 150


@pytest.mark.parametrize("name", _NAMES)
def test_an_example_prints_what_it_says(name: str, names: dict[str, Any]) -> None:
    docstring = inspect.getdoc(_documented(name)) or ""
    examples = doctest.DocTestParser().get_doctest(docstring, names, name, None, None)
    assert examples.examples, f"tf.{name} has no example"
    told: list[str] = []
    failed = doctest.DocTestRunner(verbose=False).run(examples, out=told.append, clear_globs=False).failed
    assert not failed, "".join(told)
