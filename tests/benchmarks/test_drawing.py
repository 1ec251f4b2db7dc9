"""Pictures are well-formed SVG, place values where they belong, and turn with the page's colour scheme."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from benchmarks.drawing import COLOURS, Drawing, Scale


def test_words_are_escaped() -> None:
    picture = Drawing(100, 100, "a < b", "x & y")
    picture.text(1, 2, "<&>")
    root = ElementTree.fromstring(str(picture))
    assert [each.text for each in root if each.tag.endswith(("title", "desc", "text"))] == ["a < b", "x & y", "<&>"]


def test_every_colour_has_a_light_and_a_dark_value() -> None:
    style = str(Drawing(10, 10, "", ""))
    light, dark = style.split("prefers-color-scheme:dark")
    for colour in COLOURS:
        assert f"--{colour}:" in light
        assert f"--{colour}:" in dark


def test_a_scale_maps_its_ends_to_the_pixels() -> None:
    linear = Scale(0, 10, 100, 200, is_logarithmic=False)
    assert (linear(0), linear(5), linear(10)) == (100, 150, 200)
    logarithmic = Scale(1, 100, 0, 200, is_logarithmic=True)
    assert (logarithmic(1), logarithmic(10), logarithmic(100)) == pytest.approx((0, 100, 200))


def test_ticks_are_powers_of_ten_or_round_steps_within_the_scale() -> None:
    assert Scale(0.5, 2000, 0, 1, is_logarithmic=True).powers_of_ten() == [1, 10, 100, 1000]
    assert Scale(0, 330, 0, 1, is_logarithmic=False).round_steps(4) == [0, 100, 200, 300]
