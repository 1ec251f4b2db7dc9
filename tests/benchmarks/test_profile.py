"""A profile puts every function's own time into one category."""

from __future__ import annotations

import cProfile
import pstats
import time

import pytest

from benchmarks.profile import Report, categories, category_of, lines


@pytest.mark.parametrize(
    ("path", "category"),
    [
        ("/x/weft/client/session.py", "client"),
        ("/x/weft/passes/placer.py", "plan"),
        ("/x/weft/runtime/executor.py", "dispatch"),
        ("/x/weft/ops/math.py", "kernels"),
        ("/x/jax/_src/pjit.py", "XLA"),
        ("/x/weft/distributed/channel.py", "wire"),
        ("/lib/threading.py", "wait"),
        ("/lib/json/decoder.py", "other"),
    ],
)
def test_a_python_function_belongs_to_where_its_file_lies(path: str, category: str) -> None:
    assert category_of((path, 1, "f")) == category


def test_a_c_function_waits_or_sends_or_belongs_to_its_caller() -> None:
    assert category_of(("~", 0, "<method 'acquire' of '_thread.lock' objects>")) == "wait"
    assert category_of(("~", 0, "<method 'sendmsg' of '_socket.socket' objects>")) == "wire"
    assert category_of(("~", 0, "<built-in method builtins.len>")) is None


def test_all_own_time_is_split_and_none_is_counted_twice() -> None:
    profiler = cProfile.Profile()
    profiler.enable()
    time.sleep(0.001)
    sorted(range(1000))
    profiler.disable()
    stats = pstats.Stats(profiler)
    seconds = categories(stats)
    assert sum(seconds.values()) == pytest.approx(stats.total_tt, rel=0.01)  # type: ignore[attr-defined]
    assert seconds["wait"] >= 0.001


def test_a_report_prints_shares_and_the_costliest_functions() -> None:
    printed = "\n".join(lines(Report("program", 100, {"client": 0.003, "wait": 0.001}, [("session.py:1 run", 0.002)])))
    assert "client 75%  wait 25%" in printed
    assert "40 µs" in printed
    assert "50.0%  session.py:1 run" in printed
