"""What `import weft` loads, and what it leaves behind in a process."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import weft
import weft.api

COLLECTIONS = """
import gc
import weft
weft.no_op()
print(gc.get_freeze_count(), len(gc.get_objects()))
"""

SETTING = """
import gc
{before}
during = []
gc.callbacks.append(lambda phase, info: during.append("jax" in sys.modules and "tensorboard" not in sys.modules))
import sys
import weft
print(gc.isenabled(), any(during))
"""

NOT_LOADED = ("scipy", "optax", "PIL", "tensorflow")
MODULES = f"""
import sys
import weft
print([name for name in {NOT_LOADED!r} if name in sys.modules])
"""


def _printed(program: str) -> str:
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=True)
    return ran.stdout.strip()


def test_a_full_collection_need_not_look_at_what_importing_made() -> None:
    frozen, others = map(int, _printed(COLLECTIONS).split())
    assert frozen > 50_000
    assert others < frozen / 10


def test_nothing_is_collected_while_jax_is_imported_and_the_setting_stays() -> None:
    assert _printed(SETTING.format(before="")) == "True False"
    assert _printed(SETTING.format(before="gc.disable()")) == "False False"


def test_importing_loads_nothing_heavy_that_few_programs_need() -> None:
    assert _printed(MODULES) == "[]"


def test_no_room_of_the_engine_hides_a_door() -> None:
    rooms = {each.name for each in pkgutil.iter_modules(weft.__path__)}
    doors = {each.name for each in pkgutil.iter_modules(weft.api.__path__)}
    assert rooms & doors == set()
