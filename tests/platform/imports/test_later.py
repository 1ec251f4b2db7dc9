"""A module that is imported when something first looks into it."""

from __future__ import annotations

import sys

import pytest

from weft.platform.imports.later import Later


def test_it_is_imported_at_the_first_look_and_looks_like_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    later = Later("colorsys")
    assert "colorsys" not in sys.modules
    assert later.rgb_to_hsv(0.0, 0.0, 1.0)[1:] == (1.0, 1.0)
    assert later.rgb_to_hsv is sys.modules["colorsys"].rgb_to_hsv


def test_what_the_import_system_asks_of_every_module_imports_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    assert not hasattr(Later("colorsys"), "__wrapped__")
    assert "colorsys" not in sys.modules


def test_a_name_that_it_lacks_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'colorsys' has no attribute 'rgb_to_hsx'"):
        _ = Later("colorsys").rgb_to_hsx
