"""What code costs is told by the import of weft at first, and by code that was made the more of it there is."""

from __future__ import annotations

import pytest

from weft.platform.imports.import_cost import import_cost
from weft.runtime.compiled import code_price
from weft.runtime.compiled.code_price import IMPORT_CALLS, IMPORT_NODES, CodePrice


@pytest.fixture(autouse=True)
def imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_cost, "seconds", 2.0)
    monkeypatch.setattr(code_price, "is_imported", lambda: True)


def test_before_anything_was_made_it_is_a_part_of_the_import() -> None:
    assert CodePrice().code_s(50) == 2.0 * 50 / IMPORT_NODES
    assert CodePrice().call_s == 2.0 / IMPORT_CALLS


def test_on_a_machine_twice_as_slow_it_is_twice_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    before, call_s = CodePrice().code_s(50), CodePrice().call_s
    monkeypatch.setattr(import_cost, "seconds", 4.0)
    assert (CodePrice().code_s(50), CodePrice().call_s) == (2 * before, 2 * call_s)


def test_where_jax_is_to_be_imported_that_comes_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_price, "is_imported", lambda: False)
    assert CodePrice().code_s(0) == 2.0


def test_what_code_has_taken_counts_by_its_nodes() -> None:
    price = CodePrice()
    price.note(2, 0.06)
    told = 100 * 2.06 / (IMPORT_NODES + 2)
    assert price.code_s(100) == pytest.approx(told), "a code of two nodes tells little of one of a hundred"
    price.note(10_000, 500.0)
    assert price.code_s(100) == pytest.approx(100 * 0.05, rel=0.01)


def test_code_that_is_found_in_the_folder_makes_more_of_it_cheaper() -> None:
    price = CodePrice()
    before = price.code_s(100)
    price.note(400, 0.1)
    assert price.code_s(100) < before / 4
