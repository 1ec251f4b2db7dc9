"""The snippets of docs/data.md run as they stand, one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import weft as tf

_PAGE = Path(__file__).parents[2] / "docs" / "data.md"


def test_the_snippets_of_the_page_about_datasets_run() -> None:
    snippets = re.findall(r"^```python\n(.*?)^```", _PAGE.read_text(encoding="utf-8"), flags=re.M | re.S)
    assert len(snippets) == 3
    names: dict[str, object] = {}
    with tf.Graph().as_default():
        exec(snippets[0], names)
        exec(snippets[1], names)
    exec(snippets[2], names)
    tf.reset_default_graph()
