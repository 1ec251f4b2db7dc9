"""A profile puts every function's own time into one category."""

from __future__ import annotations

import cProfile
import pstats
import time
from pathlib import Path

import jax
import numpy as np
import pytest

from benchmarks.compiled_code import kind_of, seconds
from benchmarks.framework import ROOT
from benchmarks.profile import BY_PATH, DIRECTORY_VARIABLE, Report, categories, category_of, lines, read_reports, steps


@pytest.mark.parametrize(
    ("path", "category"),
    [
        ("/x/weft/client/session.py", "client"),
        ("/x/weft/passes/placer.py", "plan"),
        ("/x/weft/runtime/executor.py", "dispatch"),
        ("/x/weft/runtime/compiled/waiting.py", "XLA"),
        ("/x/weft/ops/math.py", "kernels"),
        ("/x/jax/_src/pjit.py", "XLA"),
        ("/x/weft/distributed/channel.py", "wire"),
        ("/lib/threading.py", "wait"),
        ("/x/grpc/_server.py", "wait"),
        ("/lib/json/decoder.py", "other"),
    ],
)
def test_a_python_function_belongs_to_where_its_file_lies(path: str, category: str) -> None:
    assert category_of((path, 1, "f")) == category


def test_each_part_of_weft_that_a_category_names_is_there() -> None:
    own = [part for _, parts in BY_PATH for part in parts if part.startswith("/weft/")]
    assert [part for part in own if not (ROOT / part.strip("/")).exists()] == []


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


def test_a_report_prints_what_compiled_code_does() -> None:
    compiled = {"loops": 0.001, "convolutions by oneDNN": 0.003}
    printed = "\n".join(lines(Report("program", 100, {"XLA": 0.4}, [], compiled)))
    assert "compiled code, 4,000 µs of its threads a step" in printed
    assert "convolutions by oneDNN 75%  loops 25%" in printed


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ffi_call.5__onednn$convolution", "convolutions by oneDNN"),
        ("conv_general_dilated.2", "convolutions by Eigen"),
        ("dot_general.8", "products and sums"),
        ("ynn_fusion.3", "products and sums"),
        ("transpose_copy_fusion.1", "copies"),
        ("multiply_subtract_fusion", "loops"),
        ("while.5", ""),
        ("end: dot_general.8", ""),
        ("ThunkExecutor::Execute (wait for completion)", ""),
    ],
)
def test_an_operation_is_of_the_kind_that_its_name_says(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_operations_of_compiled_code_are_timed() -> None:
    double = jax.jit(lambda x: x @ x + 1.0)
    ones = np.ones((64, 64), np.float32)
    double(ones).block_until_ready()
    found = seconds(lambda: double(ones).block_until_ready(), 3)
    assert found["products and sums"] > 0.0


def test_what_a_servers_threads_wait_is_told_apart() -> None:
    seconds = {"dispatch": 0.3, "wire": 0.1, "wait": 50.0}
    printed = "\n".join(lines(Report("server", None, seconds, [("select.py:1 poll", 50.0), ("step.py:1 run", 0.3)])))
    assert "busy for 0.40 s; all its threads together waited 50 s" in printed
    assert "dispatch 75%  wire 25%" in printed
    assert "poll" not in printed


def test_a_block_is_profiled_only_when_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps(lambda: None, count=3)
    assert read_reports(tmp_path) == []
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path))
    steps(lambda: sorted(range(10)), count=3, process="worker 0")
    (report,) = read_reports(tmp_path)
    assert (report.process, report.steps) == ("worker 0", 3)
