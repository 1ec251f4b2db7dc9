"""A measure that crashes or hangs becomes an outcome with a reason, and nothing of it keeps running."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from benchmarks import contender as contender_module
from benchmarks.catalogue import Measure, Unit
from benchmarks.contender import Contender
from benchmarks.framework import WEFT

PROGRAM = """
import os, sys, time
from pathlib import Path
from benchmarks.children import Children
from benchmarks.timing import once

def gives(): return once(2.5)
def crashes(): raise ValueError("the cause")
def prints():
    print("a library's chatter")
    os.write(1, b"and more")
    return once(1.0)
def hangs():
    child = Children().start("benchmarks.programs.sample:sleep")
    Path("child.pid").write_text(str(child.pid))
    time.sleep(600)
def sleep(channel): time.sleep(600)
"""


@pytest.fixture
def python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Contender:
    """Return a contender whose programs include the ones above, in a copy of the package."""
    package = Path(contender_module.__file__).parent
    copy = tmp_path / "benchmarks"
    (copy / "programs").mkdir(parents=True)
    for module in [*package.glob("*.py"), *package.glob("programs/__*.py")]:
        (copy / module.relative_to(package)).write_text(module.read_text())
    (copy / "programs" / "sample.py").write_text(PROGRAM)
    monkeypatch.setattr(contender_module, "ROOT", tmp_path)
    return Contender(WEFT, sys.executable)


def measure(function: str, time_limit_s: float = 60.0) -> Measure:
    return Measure(function, f"sample:{function}", function, Unit.SECONDS, 1.0, time_limit_s=time_limit_s)


def test_a_figure_comes_back(python: Contender) -> None:
    sample = python.run(measure("gives")).sample
    assert sample is not None
    assert sample.value == 2.5


def test_what_a_library_prints_is_no_result(python: Contender) -> None:
    sample = python.run(measure("prints")).sample
    assert sample is not None
    assert sample.value == 1.0


def test_a_crash_is_reported_by_its_cause(python: Contender) -> None:
    outcome = python.run(measure("crashes"))
    assert outcome.sample is None
    assert outcome.reason == "ValueError: the cause"


@pytest.mark.slow
def test_a_program_past_its_limit_is_killed_with_its_children(python: Contender, tmp_path: Path) -> None:
    outcome = python.run(measure("hangs", time_limit_s=3.0))
    assert outcome.reason == "exceeded 3 s"
    child = int((tmp_path / "child.pid").read_text())
    assert not _is_running(child)


def _is_running(pid: int) -> bool:
    """Return whether the process still does anything; one that is dead but not yet collected does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
