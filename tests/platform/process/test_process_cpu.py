"""What a process has computed, of this one and of another."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from weft.platform.process.process_cpu import cpu_s

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells")


def test_it_is_what_the_process_itself_counts() -> None:
    computed_s = cpu_s(os.getpid())
    assert computed_s is not None
    # A tick of either clock.
    assert abs(computed_s - time.process_time()) < 0.1


def test_that_of_another_process_grows_as_it_computes_and_is_none_after_its_end() -> None:
    program = "print(flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        first = cpu_s(process.pid)
        while cpu_s(process.pid) == first:
            os.sched_yield()
        process.kill()
        process.wait()
        assert cpu_s(process.pid) is None
