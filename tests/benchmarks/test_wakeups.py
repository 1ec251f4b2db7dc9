"""Counts of what steps cost: how tracers' reports are read, how counts become a step's, and what the table says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import wakeups
from benchmarks.contender import Contender
from benchmarks.counting import calls_of_perf, calls_of_strace
from benchmarks.framework import WEFT
from benchmarks.wakeups import COUNTED, Counts, Row, Sitting, as_json, counts_of, from_json, in_words

PERF = """# started on Tue Nov 24 10:00:00 2026

90;;raw_syscalls:sys_enter;1000;100.00;;
20;;syscalls:sys_enter_sched_yield;1000;100.00;;
10;;syscalls:sys_enter_poll;1000;100.00;;
<not counted>;;syscalls:sys_enter_ppoll;0;100.00;;
"""
STRACE = """% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ------------------
 78.12    2.694787        2596      1038       523 futex
 17.13    0.590879          78      7560           poll
------ ----------- ----------- --------- --------- ------------------
100.00    3.285666         382      8598       523 total
"""


def test_calls_are_read_from_what_the_tracers_write() -> None:
    assert calls_of_perf(PERF) == {"sched_yield": 20, "poll": 10, "others": 60}
    assert calls_of_strace(STRACE) == {"futex": 1038, "poll": 7560}


def test_counts_are_of_a_step_of_all_processes() -> None:
    processes = {"worker 0": {"waits": 30, "cpu_s": 0.2}, "ps 0": {"waits": 10, "cpu_s": 0.1}}
    plain = {"steps": 20, "messages": 40, "bytes": 2000, "processes": processes, "calls": None, "looks": None}
    counts = counts_of(plain, {"steps": 10, "calls": 80, "looks": 20})
    assert counts == Counts(2.0, pytest.approx(0.015), 2.0, 100.0, 6.0, 2.0, {"worker 0": 1.5, "ps 0": 0.5})
    assert counts_of({**plain, "messages": 0}).messages is None


def test_the_table_has_the_least_beside_each_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = Row(COUNTED[0], {WEFT: [Counts(1.0, 50e-6, 2.0, 101.0, 6.05, 2.0)]})
    held = Sitting({WEFT: "1.0"}, [row], "perf", {})
    assert from_json(json.loads(json.dumps(as_json(held)))) == held
    path = tmp_path / "counted.json"
    path.write_text(json.dumps(as_json(held)))
    assert command.main(["--wakeups", "--redraw", str(path)]) == 0
    line = capsys.readouterr().out.splitlines()[1]
    assert line.startswith(COUNTED[0].title)
    assert line.split()[-8:] == ["1.00", "2", "6.05", "4", "2.00", "2.00", "101", "50"]
    row.reasons["tensorflow"] = "it crashed"
    assert "client_only failed on TensorFlow: it crashed" in in_words(held)


@pytest.mark.slow
@pytest.mark.parametrize("counted", COUNTED, ids=lambda counted: counted.name)
def test_a_programs_steps_are_counted(counted: wakeups.Counted) -> None:
    held = wakeups.hold([Contender(WEFT, sys.executable)], [counted], rounds=1, tell=lambda line: None)
    (row,) = held.rows
    assert not row.reasons
    (counts,) = row.found[WEFT]
    assert counts.messages is not None
    assert counts.messages >= 2
    assert 0 < counts.waits < 10 * counted.turns
