"""The documents name files, headings and public names that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import weft

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(path for path in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")) if path.name != "CHANGELOG.md")
# `weft/runtime/stage.py`, or a folder of the project with a slash at its end.
_PATH = re.compile(r"`((?:weft|tests|examples|benchmarks|tools|docs)/[\w./-]*)`")
_LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)[^)]*\)")
_ANCHOR = re.compile(r"\]\((?!https?://)([^)#\s]*)#([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", flags=re.M)
_NAME = re.compile(r"`((?:tf|weft)(?:\.[A-Za-z_]\w*)+)")
# What weft has not, and documents say so; and a word that stands for any name.
_NO_NAMES = {"tf.config", "weft.NAME"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_files_that_a_document_names_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    named = {ROOT / name for name in _PATH.findall(text)} | {document.parent / link for link in _LINK.findall(text)}
    assert [str(path) for path in sorted(named) if not path.exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_headings_that_a_document_leads_to_exist(document: Path) -> None:
    missing = []
    for page, anchor in _ANCHOR.findall(document.read_text(encoding="utf-8")):
        target = document.parent / page if page else document
        if anchor not in map(_slug, _HEADING.findall(target.read_text(encoding="utf-8"))):
            missing.append(f"{page}#{anchor}")
    assert missing == []


def _slug(heading: str) -> str:
    """What a heading is called in links: lower case, without marks, spaces as hyphens."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_public_names_that_a_document_has_exist(document: Path) -> None:
    names = set(_NAME.findall(document.read_text(encoding="utf-8"))) - _NO_NAMES
    assert [name for name in sorted(names) if not _exists(name)] == []


def _exists(name: str) -> bool:
    found: object = weft
    for part in name.split(".")[1:]:
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True
