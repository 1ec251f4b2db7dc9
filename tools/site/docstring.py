"""Turns the project's docstrings into Markdown: sections become definition lists, the rest is Markdown already."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Final

_SECTIONS: Final = {
    "Args": "Arguments",
    "Attributes": "Attributes",
    "Raises": "Raises",
    "Returns": "Returns",
    "Yields": "Yields",
}
_HEAD: Final = re.compile(rf"({'|'.join(_SECTIONS)}):\s*$")
_ENTRY: Final = re.compile(r"(\*{0,2}[A-Za-z_][\w.]*(?:(?:, | or )\*{0,2}[A-Za-z_][\w.]*)*): +(.*)", re.DOTALL)
_CODE: Final = re.compile(r"(`+[^`]+`+)")


def markdown(docstring: str) -> str:
    """The docstring as Markdown."""
    lines: list[str] = []
    for title, block in _blocks(inspect.cleandoc(docstring).splitlines()):
        lines += [f"**{title}**", "", *_section(block), ""] if title else [*_prose(block), ""]
    return "\n".join(lines).strip()


def summary(docstring: str) -> str:
    """Its first paragraph's first sentence, in one line."""
    paragraph = " ".join(inspect.cleandoc(docstring).split("\n\n")[0].split())
    return re.split(r"(?<=[.:]) (?=[A-Z`])", paragraph)[0].removesuffix(":")


def escaped(text: str) -> str:
    """Text whose angle brackets and stars mean themselves, outside of code."""
    parts = _CODE.split(text)
    return "".join(part if part.startswith("`") else re.sub(r"([<*|])", r"\\\1", part) for part in parts)


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The sections with their titles and lines; prose has no title."""
    title, block = "", list[str]()
    for line in lines:
        head = _HEAD.match(line)
        if head or (title and line and not line.startswith(" ")):
            yield title, block
            title, block = (_SECTIONS[head[1]], []) if head else ("", [line])
        else:
            block.append(line)
    yield title, block


def _prose(lines: Sequence[str]) -> list[str]:
    """Lines in which what is no code is escaped; indented ones are code."""
    text = "\n".join(lines)
    parts = re.split(r"((?:^|(?<=\n\n))(?:    .*(?:\n+|$))+)", text)
    return "".join(part if part.startswith("    ") else escaped(part) for part in parts).splitlines()


def _section(lines: Sequence[str]) -> list[str]:
    """One definition for each entry, or its prose where it has no names."""
    found: list[str] = []
    for entry in _entries(inspect.cleandoc("\n".join(["", *lines])).splitlines()):
        named = _ENTRY.match(entry)
        if named:
            names = ", ".join(f"`{name}`" for name in re.split(r", | or ", named[1]))
            body = escaped(named[2])
            found += [names, ": " + body.replace("\n", "\n  "), ""]
        else:
            found += [escaped(entry), ""]
    return found


def _entries(lines: Sequence[str]) -> Iterator[str]:
    """The entries of a section: each begins at the margin, its other lines are indented."""
    entry: list[str] = []
    for line in lines:
        if entry and line and not line.startswith(" "):
            yield "\n".join(entry).rstrip()
            entry = []
        entry.append(line.removeprefix("    "))
    if entry:
        yield "\n".join(entry).rstrip()
