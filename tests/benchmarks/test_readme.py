"""A sitting's table goes between two comments of a document and replaces what was there."""

from __future__ import annotations

import pytest

from benchmarks.catalogue import Measure, Unit
from benchmarks.contender import Contender, Outcome
from benchmarks.framework import ROOT, TENSORFLOW, WEFT
from benchmarks.machine import Limits
from benchmarks.readme import BEGIN, END, table, with_sitting
from benchmarks.sitting import Row, Sitting
from benchmarks.timing import once

TIME = Measure("run", "local_runs:run", "A run", Unit.SECONDS, 0.5)


def sitting_of(ours: list[float], theirs: list[float]) -> Sitting:
    rounds = {name: [Outcome(once(value)) for value in values] for name, values in ((WEFT, ours), (TENSORFLOW, theirs))}
    contenders = [Contender(WEFT, "python"), Contender(TENSORFLOW, "python")]
    return Sitting(contenders, {WEFT: "1.0", TENSORFLOW: "2.0"}, [Row(TIME, rounds)], [Limits(1, 1, 1, 1, 1, 1)])


def test_a_row_has_both_figures_the_ratio_its_spread_and_the_goal() -> None:
    assert "| A run | 2.00 s | 4.00 s | 0.50 | 0.25 to 0.75 | ≤ 0.5 |" in table(sitting_of([1.0, 2.0, 3.0], [4.0, 4.0, 4.0]))


def test_a_measure_that_lacks_a_figure_has_no_row() -> None:
    assert "A run" not in table(sitting_of([], [4.0]))


def test_the_table_replaces_the_one_before_and_nothing_else() -> None:
    sitting = sitting_of([1.0], [4.0])
    written = with_sitting(f"above\n{BEGIN}\nold\n{END}\nbelow\n", sitting, None)
    assert written.startswith(f"above\n{BEGIN}\n\n| measure |")
    assert written.endswith(f"{END}\nbelow\n")
    assert "old" not in written
    assert with_sitting(written, sitting, None) == written


def test_a_picture_stands_above_the_folded_table() -> None:
    written = with_sitting(f"{BEGIN}{END}", sitting_of([1.0], [4.0]), "docs/benchmarks.svg")
    assert "better in 1 of 1 measures.](docs/benchmarks.svg)" in written
    assert written.index("docs/benchmarks.svg") < written.index("<details>") < written.index("| A run |")


def test_a_document_without_a_place_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for the table"):
        with_sitting("nothing here", Sitting([], {}, []), None)


def test_the_readme_has_a_place_for_the_table() -> None:
    readme = (ROOT / "README.md").read_text()
    assert readme.index(BEGIN) < readme.index(END)
