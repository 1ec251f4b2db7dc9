"""What `import weft` loads, and what it leaves behind in a process."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import pytest

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
weft.no_op()
print(gc.isenabled(), any(during))
"""

NOT_LOADED = ("scipy", "optax", "PIL", "tensorflow")
MODULES = f"""
import sys
import weft
weft.no_op()
print([name for name in {NOT_LOADED!r} if name in sys.modules])
"""
ENGINE = """
import sys
import weft
import weft.errors, weft.cli.launch, weft.platform.free_ports
print([name for name in ("jax", "numpy", "grpc", "tensorboard", "google.protobuf", "weft.namespace") if name in sys.modules])
"""
ALL_LOADED = "import sys; sys.stdout.write(str('weft.autodiff.control_flow_gradients' in sys.modules))"
FIRST_NAMES = [
    "from weft import train",
    "import weft.nn as nn; nn.relu",
    "import weft.python.ops.math_ops",
    "import weft.compat.v1 as tf; tf.no_op",
    "from weft import *; no_op",
    "import threading, weft; ts = [threading.Thread(target=lambda: weft.Session) for _ in range(4)]; "
    "[t.start() for t in ts]; [t.join() for t in ts]",
]


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


def test_the_engine_is_loaded_when_a_program_asks_for_a_name() -> None:
    assert _printed(ENGINE) == "[]"


@pytest.mark.parametrize("first", FIRST_NAMES)
def test_every_way_to_ask_for_a_name_loads_all_ops_and_gradients(first: str) -> None:
    assert (
        _printed(f"{first}; import sys; sys.stdout.write(str('weft.autodiff.control_flow_gradients' in sys.modules))") == "True"
    )


def test_the_directory_has_the_public_names_only() -> None:
    names = dir(weft)
    assert {"Session", "nn", "no_op"} < set(names)
    assert [name for name in names if name.startswith("_")] == []
    assert "annotations" not in names


def test_a_name_that_is_none_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'weft' has no attribute 'Sesion'"):
        _ = weft.Sesion  # type: ignore[attr-defined]
