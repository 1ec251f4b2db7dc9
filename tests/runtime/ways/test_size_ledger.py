"""A size is worth compiling when it has cost as much as its code."""

from __future__ import annotations

from weft.runtime.ways.size_ledger import SizeLedger


def test_a_size_is_worth_its_code_when_it_has_cost_as_much() -> None:
    ledger = SizeLedger()
    ledger.add("a", 0.25)
    assert not ledger.is_worth("a", 0.5)
    ledger.add("a", 0.25)
    assert ledger.is_worth("a", 0.5)


def test_sizes_are_counted_apart() -> None:
    ledger = SizeLedger()
    ledger.add("a", 1.0)
    assert not ledger.is_worth("b", 0.5)


def test_the_ledger_does_not_grow_without_end() -> None:
    ledger = SizeLedger()
    ledger.add("first", 1.0)
    for size in range(2000):
        ledger.add(size, 0.0)
    assert not ledger.is_worth("first", 0.5)
