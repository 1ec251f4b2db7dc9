"""Regular expressions as TensorFlow has them: RE2's syntax and meaning, on texts in UTF-8.

RE2 knows `\\p{L}`, `[[:alpha:]]` and `\\Q...\\E`, no `(?=...)` and no `\\1` in a pattern; `.` and `[^a]` match a character,
not a byte, and never one that is no UTF-8; `$` matches at the end alone. Where Python's `re` says the same, as for most
patterns and texts in ASCII, it does the work: it replaces in C, and RE2 has no such function for Python.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from weft.ops.strings.elementwise import invalid
from weft.platform.imports.regex_modules import re2

# What both libraries read alike, in patterns that RE2 takes; what may match nothing is left out afterwards.
_PLAIN: Final = re.compile(
    rb"(?:[^\\$\x80-\xff(\[{&~|-]|\\[dDwWsS.\\*+?()|^$\[\]{}/-]|\((?!\?)|\(\?:|\[(?![\[:])|\{\d+(?:,\d*)?\}|[|](?![|])|-(?!-))*"
)

# An escaped character, a class, the beginning of a group, or one character.
_PIECES: Final = re.compile(rb"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?:)?|.", re.DOTALL)


class _Match(NamedTuple):
    start: int
    end: int
    groups: Sequence[bytes | None]


class Expression:
    """A compiled pattern.

    Args:
        pattern: the pattern.

    Raises:
        InvalidArgumentError: it is no regular expression.
    """

    def __init__(self, pattern: bytes) -> None:
        options = re2.Options()
        options.log_errors = False
        try:
            self._compiled = re2.compile(pattern, options)
        except re2.error as error:
            shown = pattern.decode(errors="replace")
            reason = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else error
            raise invalid(f"Invalid pattern: {shown}, error: {reason}") from None
        self._quick = _quick(pattern)

    def __repr__(self) -> str:
        return f"<Expression {self._compiled.pattern!r}>"

    def matches_whole(self, text: bytes) -> bool:
        """Whether the pattern matches all of a text."""
        if self._quick is not None and _is_plain(text):
            return self._quick.fullmatch(text) is not None
        return self._compiled.fullmatch(text) is not None

    def replace(self, text: bytes, rewrite: Rewrite, every: bool) -> bytes:
        """The text with the first match, or with every one, replaced."""
        if self._quick is not None and _is_plain(text):
            if rewrite.literal is not None:
                return self._quick.sub(rewrite.literal, text, 0 if every else 1)
            if rewrite.is_right or every:
                return self._quick.sub(lambda found: rewrite.of((found[0], *found.groups())), text, 0 if every else 1)
        return self._replace_all(text, rewrite) if every else self._replace_first(text, rewrite)

    def _search(self, text: bytes, place: int) -> _Match | None:
        found = self._compiled.search(text, place)
        return None if found is None else _Match(found.start(), found.end(), (found[0], *found.groups()))

    def _replace_first(self, text: bytes, rewrite: Rewrite) -> bytes:
        found = self._search(text, 0)
        if found is None or not rewrite.is_right:
            return text
        return text[: found.start] + rewrite.of(found.groups) + text[found.end :]

    def _replace_all(self, text: bytes, rewrite: Rewrite) -> bytes:
        made: list[bytes] = []
        place, last_end = 0, -1
        while place <= len(text) and (found := self._search(text, place)) is not None:
            made.append(text[place : found.start])
            if found.start == found.end == last_end:
                # Nothing is matched where the last match ended: the next character is handed on.
                after = found.start + _length_at(text, found.start)
                made.append(text[found.start : after])
                place = after
                continue
            made.append(rewrite.of(found.groups))
            place = last_end = found.end
        return b"".join([*made, text[place:]])


class Rewrite:
    r"""What stands for a match: a text with `\1` ... for its groups and `\0` for all of it.

    It ends, as in TensorFlow, before a `\` that stands for nothing.

    Args:
        text: the rewrite as the program gives it.
    """

    def __init__(self, text: bytes) -> None:
        self.literal = None if b"\\" in text else text
        self._parts: list[bytes | int] = []
        self.is_right = True
        for part in re.findall(rb"[^\\]+|\\.?", text, re.DOTALL):
            if part[:1] != b"\\":
                self._parts.append(part)
            elif part == b"\\\\":
                self._parts.append(b"\\")
            elif part[1:].isdigit():
                self._parts.append(int(part[1:]))
            else:
                self.is_right = False
                break

    def __repr__(self) -> str:
        return f"<Rewrite {self._parts}>"

    def of(self, groups: Sequence[bytes | None]) -> bytes:
        """The text for one match; a group that matched nothing, or that there is none of, is empty."""
        return b"".join(
            part if isinstance(part, bytes) else (groups[part] or b"") if part < len(groups) else b"" for part in self._parts
        )


def _quick(pattern: bytes) -> re.Pattern[bytes] | None:
    """The pattern for Python's `re`, None where that may mean something else."""
    if not _PLAIN.fullmatch(pattern) or _repeats_a_choice(pattern):
        return None
    try:
        found = re.compile(pattern)
    except re.error:
        return None
    return None if found.match(b"") else found


def _repeats_a_choice(pattern: bytes) -> bool:
    """Whether a group is repeated that can match one text in several ways: Python's `re` tries them all, RE2 does not."""
    open_groups, has_choice = [False], False  # whether each that is open has a choice, and whether the one just closed has
    for piece in _PIECES.findall(pattern):
        if piece[:1] == b"(":
            open_groups.append(False)
        elif piece == b")":
            has_choice = open_groups.pop()
            open_groups[-1] |= has_choice
            continue
        elif piece in b"*+?|{":
            if has_choice and piece in b"*+{":
                return True
            open_groups[-1] = True
        has_choice = False
    return False


def _is_plain(text: bytes) -> bool:
    # To Python a vertical tab is white space.
    return text.isascii() and b"\v" not in text


def _length_at(text: bytes, place: int) -> int:
    """The number of bytes of the character at a place; 1 where there is none."""
    for length in (1, 2, 3, 4):
        try:
            text[place : place + length].decode()
        except UnicodeDecodeError:
            continue
        return length
    return 1


@lru_cache(maxsize=256)
def compiled(pattern: bytes) -> Expression:
    """The expression of a pattern; InvalidArgumentError when it is none."""
    return Expression(pattern)


@lru_cache(maxsize=256)
def rewrite_of(text: bytes) -> Rewrite:
    """What a text to replace matches by says."""
    return Rewrite(text)
