"""The file from which a run of the harness goes on."""

from __future__ import annotations

from pathlib import Path

from tests.differential.ops import page
from tests.differential.ops.campaign import Finding
from tests.differential.ops.results import resumed, stored


def test_ops_that_the_file_has_are_not_run_again_and_a_torn_line_counts_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    asked: list[list[str]] = []

    def run(ops: list[str]) -> list[Finding]:
        asked.append(ops)
        return [Finding(name, 3, 3, 0, ["differs"] if name == "B" else []) for name in ops]

    first = list(resumed(path, ["A", "B"], run))
    path.write_text(path.read_text() + '{"op": "C", "cas')
    second = list(resumed(path, ["A", "B", "C"], run))
    assert asked == [["A", "B"], ["C"]]
    assert second[:2] == first
    assert [each.op for each in second] == ["A", "B", "C"]
    assert stored(path) == {each.op: each for each in second}


def test_the_page_has_the_reasons_of_all_documented_differences() -> None:
    text = (Path(__file__).parents[3] / "docs/op_agreement.md").read_text()
    assert text.endswith(page.reasons()), (
        "write it: python -m tests.differential.ops --results FILE --page docs/op_agreement.md"
    )


def test_the_page_counts_ops_and_cases() -> None:
    found = [Finding("A", 3, 3, 0, []), Finding("B", 4, 4, 0, ["seed: differs"]), Finding("C", 1, 0, 1, [])]
    text = page.page(found)
    assert "| agree on all of their cases | 1 (50.0 %) |" in text
    assert "| cases that agree | 6 (85.7 %) |" in text
    assert "| `B` | 4 | 1 | seed: differs |" in text


def test_the_page_tells_cases_that_differ_as_meant_from_others() -> None:
    found = [Finding("A", 5, 5, 0, [], meant=2), Finding("B", 4, 4, 0, ["seed: differs"], meant=1)]
    text = page.page(found, "Two ops ran.")
    assert "| differ as documented below | 1 |\n| differ otherwise | 1 |" in text
    assert "| cases that agree | 5 (55.6 %) |" in text
    assert "\n\nTwo ops ran.\n\n## Open differences" in text
