"""Pillow's former names, gone with version 10, for programs that `weft run` runs; one that imports weft has Pillow as it is."""

from __future__ import annotations

import sys
from typing import Protocol


class _Font(Protocol):
    def getbbox(self, text: str) -> tuple[float, float, float, float]: ...


class _Drawing(Protocol):
    def multiline_textbbox(self, xy: tuple[int, int], text: str, font: object) -> tuple[float, float, float, float]: ...


def _size_of_text(font: _Font, text: str, *args: object, **kwargs: object) -> tuple[int, int]:
    """`font.getsize`: width and height of a text."""
    _, _, width, height = font.getbbox(text)
    return int(width), int(height)


def _size_of_drawn_text(drawing: _Drawing, text: str, font: object = None, *args: object, **kwargs: object) -> tuple[int, int]:
    """`draw.textsize`: width and height of a text, of several lines, too."""
    _, _, width, height = drawing.multiline_textbbox((0, 0), text, font=font)
    return int(width), int(height)


def give_back() -> None:
    """Let those of Pillow's modules that are loaded have their former names; what they have under such a name stays."""
    image = sys.modules.get("PIL.Image")
    for former, name in {"ANTIALIAS": "LANCZOS", "LINEAR": "BILINEAR", "CUBIC": "BICUBIC"}.items():
        if image is not None and hasattr(image, name):
            vars(image).setdefault(former, getattr(image, name))
    drawing = getattr(sys.modules.get("PIL.ImageDraw"), "ImageDraw", None)
    if drawing is not None and not hasattr(drawing, "textsize"):
        drawing.textsize = _size_of_drawn_text
    fonts = sys.modules.get("PIL.ImageFont")
    for name in ("ImageFont", "FreeTypeFont"):
        kind = getattr(fonts, name, None)
        if kind is not None and not hasattr(kind, "getsize"):
            kind.getsize = _size_of_text
