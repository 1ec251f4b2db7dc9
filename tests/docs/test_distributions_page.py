"""The snippets of docs/distributions.md run as they stand, one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import weft as tf

_PAGE = Path(__file__).parents[2] / "docs" / "distributions.md"


def test_the_snippets_of_the_page_run() -> None:
    names: dict[str, object] = {}
    snippets = re.findall(r"```python\n(.*?)```", _PAGE.read_text(encoding="utf-8"), re.S)
    assert len(snippets) == 1
    with tf.Graph().as_default():
        for snippet in snippets:
            exec(compile(snippet, str(_PAGE), "exec"), names)
