"""What `import weft` leaves behind in a process."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import gc
import weft
weft.no_op()
print(gc.get_freeze_count(), len(gc.get_objects()))
"""


def test_a_full_collection_need_not_look_at_what_importing_made() -> None:
    printed = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=100, check=True).stdout
    frozen, others = map(int, printed.split())
    assert frozen > 50_000
    assert others < frozen / 10
