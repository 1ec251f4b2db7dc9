"""Pictures are well-formed SVG with words in it, turn with the page's colour scheme, and are the same file each time."""

from __future__ import annotations

from xml.etree import ElementTree

from benchmarks.drawing import COLOURS, Picture, style


def drawn() -> str:
    with style():
        picture = Picture(200, 100, "a < b", "x & y")
        picture.text(10, 20, "<&>")
        picture.axes(20, 30, 190, 90).plot([1, 2], [3, 4], color=COLOURS["weft"])
        return str(picture)


def test_words_are_words_and_are_escaped() -> None:
    found = [each.text for each in ElementTree.fromstring(drawn()).iter() if each.tag.endswith(("title", "desc", "text"))]
    assert found[:2] == ["a < b", "x & y"]
    assert "<&>" in found


def test_every_colour_has_a_dark_one() -> None:
    dark = drawn().split("prefers-color-scheme:dark")[1].split("</style>")[0]
    for colour in COLOURS.values():
        assert f'[style*="stroke: {colour}"]' in dark
        assert f'[style*="fill: {colour}"]' in dark


def test_the_rules_for_dark_pages_meet_what_is_drawn() -> None:
    assert f"stroke: {COLOURS['weft']}" in drawn().split("</style>", 1)[1]


def test_a_picture_is_the_same_each_time() -> None:
    assert drawn() == drawn()
