"""Sittings of several machines stand side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.__main__ import main
from benchmarks.catalogue import select
from benchmarks.contender import Contender, Outcome
from benchmarks.framework import TENSORFLOW, WEFT
from benchmarks.machine import Limits
from benchmarks.machines import table
from benchmarks.sitting import Row, Sitting
from benchmarks.timing import once

LIMITS = Limits(12e-6, 9e-6, 4e9, 5e9, 20e9, 400e9)


def sitting_of(ratios: dict[str, float]) -> Sitting:
    rows = [
        Row(measure, {WEFT: [Outcome(once(ratios[measure.name]))], TENSORFLOW: [Outcome(once(1.0))]})
        for measure in select(list(ratios))
    ]
    contenders = [Contender(WEFT, "python"), Contender(TENSORFLOW, "python")]
    machine = {"cores": 2, "architecture": "x86_64", "system": "Linux"}
    return Sitting(contenders, {WEFT: "1.0", TENSORFLOW: "2.0"}, rows, [LIMITS], machine)


def test_each_machine_has_a_column_and_a_missed_goal_is_bold() -> None:
    written = table([sitting_of({"import": 0.3, "mlp_step": 0.8}), sitting_of({"import": 0.5, "mlp_step": 0.7})])
    assert "| Import | ≤ 0.4 | 0.30 | **0.50** |" in written
    assert (
        "- A: 2 of 2 reached; 2 cores, x86_64, Linux: Unix round trip 9.00 µs, memcpy 20.0 GB/s, matmul 400 GFLOP/s; 1 round"
        in written
    )
    assert "- B: 1 of 2 reached;" in written


def test_a_measure_of_one_machine_alone_is_no_spread() -> None:
    written = table(
        [sitting_of({"import": 0.3, "mlp_step": 0.8}), sitting_of({"mlp_step": 0.7}), sitting_of({"mlp_step": 0.9})]
    )
    assert "Import" not in written
    assert "| 0.80 | 0.70 | 0.90 |" in written


def test_the_command_reads_what_json_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = []
    for number, ratio in enumerate((0.3, 0.35)):
        files.append(tmp_path / f"{number}.json")
        files[-1].write_text(json.dumps(report.as_json(sitting_of({"import": ratio}))))
    page = tmp_path / "page.md"
    page.write_text("<!-- machines: written by the harness -->\n<!-- end of machines -->\n")
    assert main(["--machines", *map(str, files), "--into", str(page)]) == 0
    assert "| 0.30 | 0.35 |" in page.read_text()
    assert page.read_text().splitlines()[2:-2] == capsys.readouterr().out.splitlines()
