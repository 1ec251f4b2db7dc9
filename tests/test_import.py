"""What `import weft` loads, and what it leaves behind in a process."""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import weft
import weft as tf
import weft.api
from weft.api import on_demand

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
gc.callbacks.append(lambda phase, info: during.append(phase))
import weft
during.clear()
weft.no_op()
by_weft = len(during)
from weft.platform.imports import jax_modules
jax_modules.load()
print(gc.isenabled(), by_weft, during[by_weft:].count("start"))
"""

COMPILED_AFTER = 130

ON_DEMAND = """
import sys
import weft
weft.no_op()
print([name for name in sys.modules if name.startswith(("weft.estimators", "weft.networks", "weft.contrib", "unittest"))])
"""
NOT_LOADED = ("jax", "grpc", "fsspec", "cryptography", "scipy", "optax", "PIL", "tensorflow")
MODULES = f"""
import sys
import weft
weft.no_op()
print([name for name in {NOT_LOADED!r} if name in sys.modules])
"""
ENGINE = """
import sys
import weft
import weft.errors, weft.cli.launch, weft.platform.hosts.free_ports
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


def test_nothing_is_collected_while_the_engine_or_jax_is_imported_and_the_setting_stays() -> None:
    # Once when JAX is there, before what there is is put away.
    assert _printed(SETTING.format(before="")) == "True 0 1"
    assert _printed(SETTING.format(before="gc.disable()")) == "False 0 0"


def test_importing_loads_nothing_heavy_that_few_programs_need() -> None:
    assert _printed(MODULES) == "[]"


def test_the_first_name_does_not_load_what_is_loaded_on_demand() -> None:
    assert _printed(ON_DEMAND) == "[]"


@pytest.mark.parametrize("ask", ["tf.contrib.layers", "from weft.contrib import layers", "import weft.contrib.layers"])
def test_a_module_that_is_loaded_on_demand_is_one_by_every_path(ask: str) -> None:
    program = f"import weft as tf; {ask}; import weft.contrib as c, weft.api.contrib as own; print(tf.contrib is c is own)"
    assert _printed(program) == "True"


@pytest.mark.parametrize("ask", ["import weft.contrib as c", "import weft; c = weft.contrib", "from weft import contrib as c"])
def test_a_module_that_is_loaded_on_demand_says_what_it_lacks(ask: str) -> None:
    assert "TensorFlow has tf.contrib.rpc; weft does not" in _printed(
        f"{ask}\ntry: c.rpc\nexcept AttributeError as error: print(error)"
    )


def test_what_is_missing_is_looked_for_in_the_modules_that_are_loaded_on_demand() -> None:
    program = "import weft as tf\ntry: tf.xavier_initializer\nexcept AttributeError as error: print(error)"
    assert "There is tf.contrib.layers.xavier_initializer." in _printed(program)


def test_type_checkers_see_every_module_that_is_loaded_on_demand() -> None:
    tree = ast.parse(Path(weft.__file__).read_text(encoding="utf-8"))
    shown = {
        alias.asname for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.col_offset for alias in node.names
    }
    assert shown >= on_demand.PUBLIC


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_parameter_server_that_only_applies_gradients_never_imports_jax_and_stays_small() -> None:
    with tf.LocalCluster(ps=1, worker=1) as cluster, tf.Graph().as_default():
        with tf.device(tf.train.replica_device_setter(cluster=cluster.spec)):
            x = tf.placeholder(tf.float32, [None, 20])
            loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.layers.dense(x, 30, tf.nn.relu), 1) - 1.0))
            train = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_or_create_global_step())
        with tf.Session(cluster.target("worker")) as session:
            session.run(tf.global_variables_initializer())
            for _ in range(COMPILED_AFTER):
                session.run(train, {x: np.ones((8, 20))})
            steps = tf.train.global_step(session, tf.train.get_global_step())
        server, worker = (Path(f"/proc/{cluster.process_id(job, 0)}") for job in ("ps", "worker"))
        assert "jaxlib" not in (server / "maps").read_text()
        assert "jaxlib" in (worker / "maps").read_text()
        resident_kb = int((server / "status").read_text().partition("VmRSS:")[2].split()[0])
    assert steps == COMPILED_AFTER
    assert resident_kb < 150_000


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
