"""Results go between two comments of a document and replace what was there."""

from __future__ import annotations

import pytest

from benchmarks.catalogue import Measure, Unit
from benchmarks.contender import Contender, Outcome
from benchmarks.document import as_printed, described, folded, place, placed, table
from benchmarks.framework import ORIGINAL, ROOT, TENSORFLOW, WEFT
from benchmarks.machine import Limits
from benchmarks.sitting import Row, Sitting
from benchmarks.timing import once

TIME = Measure("run", "local_runs:run", "A run", Unit.SECONDS, 0.5)


def sitting_of(ours: list[float], theirs: list[float]) -> Sitting:
    rounds = {name: [Outcome(once(value)) for value in values] for name, values in ((WEFT, ours), (TENSORFLOW, theirs))}
    contenders = [Contender(WEFT, "python"), Contender(TENSORFLOW, "python")]
    return Sitting(contenders, {WEFT: "1.0", TENSORFLOW: "2.0"}, [Row(TIME, rounds)], [Limits(1, 1, 1, 1, 1, 1)])


def test_a_row_has_both_figures_the_ratio_its_spread_and_the_goal() -> None:
    assert "| A run | 2.00 s | 4.00 s | 0.50 | 0.25 to 0.75 | ≤ 0.5 |" in table(sitting_of([1.0, 2.0, 3.0], [4.0, 4.0, 4.0]))


def test_the_original_stands_where_it_is_the_better_peer_and_is_named_below() -> None:
    sitting = sitting_of([1.0], [4.0])
    sitting.contenders.append(Contender(ORIGINAL, "python"))
    sitting.versions[ORIGINAL] = "1.15.5"
    sitting.rows[0].outcomes[ORIGINAL] = [Outcome(once(2.0))]
    written = table(sitting)
    assert "| measure | weft 1.0 | TensorFlow 2.0 | ratio |" in written
    assert "| A run | 1.00 s | 2.00 s (1) | 0.50 |" in written
    assert written.endswith("(1): TensorFlow 1.15.5, where it is the better one.")


def test_a_measure_that_lacks_a_figure_has_no_row() -> None:
    assert "A run" not in table(sitting_of([], [4.0]))


def test_results_replace_those_before_and_nothing_else() -> None:
    begin, end = place("growth")
    written = placed(f"above\n{begin}\nold\n{end}\nbelow\n", "growth", as_printed("new\n"))
    assert written == f"above\n{begin}\n\n```text\nnew\n```\n\n{end}\nbelow\n"
    assert placed(written, "growth", as_printed("new")) == written


def test_a_picture_stands_above_the_folded_figures() -> None:
    sitting = sitting_of([1.0], [4.0])
    shown = folded(table(sitting), "docs/benchmarks.svg", described(sitting))
    assert "better in 1 of 1 measures.](docs/benchmarks.svg)" in shown
    assert shown.index("docs/benchmarks.svg") < shown.index("<details>") < shown.index("| A run |")
    assert folded("figures", None, "") == "figures"


def test_a_document_without_a_place_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for the results"):
        placed("nothing here", "benchmarks", "new")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("README.md", "benchmarks"),
        ("docs/benchmarks.md", "growth"),
        ("docs/benchmarks.md", "overlap"),
        ("docs/benchmarks.md", "gpu"),
    ],
)
def test_the_documents_have_a_place_for_what_is_published(path: str, name: str) -> None:
    begin, end = place(name)
    assert begin in placed((ROOT / path).read_text(), name, "new")
    assert (ROOT / path).read_text().count(end) == 1
