"""The documents name files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(path for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")) if path.name != "CHANGELOG.md")
# `weft/runtime/stage.py`, or a folder of the project with a slash at its end.
_PATH = re.compile(r"`((?:weft|tests|examples|benchmarks|tools|docs)/[\w./-]*)`")
_LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)[^)]*\)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_files_that_a_document_names_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    named = {ROOT / name for name in _PATH.findall(text)} | {document.parent / link for link in _LINK.findall(text)}
    assert [str(path) for path in sorted(named) if not path.exists()] == []
