"""The file from which a run of the harness goes on."""

from __future__ import annotations

from pathlib import Path

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
