"""A process knows how much CPU time importing weft has taken it, and nothing before."""

from __future__ import annotations

import subprocess
import sys

from weft.platform.imports.import_cost import ImportCost

PROGRAM = """
import time
import weft as tf
from weft.platform.imports.import_cost import import_cost

print(import_cost.seconds)
begin_s = time.thread_time()
tf.constant
print(import_cost.seconds, time.thread_time() - begin_s)
before_s = import_cost.seconds
tf.constant, dir(tf)
print(import_cost.seconds == before_s)
"""


def test_it_is_the_time_of_the_block() -> None:
    cost = ImportCost()
    assert cost.seconds == 0.0
    with cost.measured():
        sum(range(100_000))
    assert cost.seconds > 0.0


def test_it_is_known_when_the_names_have_been_loaded() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=True)
    before, loaded, later = ran.stdout.splitlines()
    assert float(before) == 0.0
    seconds, around_s = map(float, loaded.split())
    assert 0.0 < seconds <= around_s
    assert later == "True"
