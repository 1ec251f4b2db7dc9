"""What weft builds is TensorFlow's: its graphs load there, and train on with the same losses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.interop.exported_programs import export, train_again
from tests.interop.training_programs import PROGRAMS
from weft.framework.registry import op_registry

ROOT = Path(__file__).parents[2]

# Interpreters that have TensorFlow: one of 2.x, and one of 1.15.
INTERPRETERS = ("WEFT_ORACLE_PYTHON", "WEFT_ORACLE_PYTHON_1")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    script = ROOT / "tests" / "interop" / "exported_programs.py"
    done = subprocess.run(
        [sys.executable, str(script), str(folder)], env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False, timeout=600,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


_TRAINED: dict[str, dict[str, Any]] = {}


def _trained(variable: str, folder: Path) -> dict[str, Any]:
    interpreter = os.environ.get(variable)
    if not interpreter:
        pytest.skip(f"{variable} names no Python that has TensorFlow; `make interop` makes one")
    if variable not in _TRAINED:
        script = ROOT / "tests" / "interop" / "train_in_tensorflow.py"
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        done = subprocess.run(
            [interpreter, str(script), str(folder)], env=environment, check=False, timeout=600, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-4000:]
        _TRAINED[variable] = json.loads(done.stdout.splitlines()[-1])
    return _TRAINED[variable]


@pytest.mark.oracle
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("variable", INTERPRETERS)
def test_tensorflow_trains_it_with_the_same_losses_and_goes_on_from_a_checkpoint(
    exported: Path, variable: str, name: str
) -> None:
    plans = json.loads((exported / "plans.json").read_text())
    found = _trained(variable, exported)[name]
    assert not isinstance(found, str), found
    np.testing.assert_allclose(found, [plans[name]["losses"], plans[name]["since"]], rtol=2e-4, atol=1e-5)


# Those whose graphs differ most from what was built.
@pytest.mark.parametrize("name", ["batch_norm", "embedding", "dynamic_rnn", "cond", "metrics", "shapes"])
def test_a_graph_that_was_written_trains_as_the_one_that_was_built(tmp_path: Path, name: str) -> None:
    # What is tried here is the graph; to compile it takes ten times as long as all the rest.
    on_host = tf.ConfigProto()
    on_host.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.OFF
    plan = export(name, tmp_path, on_host)
    np.testing.assert_allclose(train_again(name, plan, tmp_path, on_host), plan["losses"], rtol=1e-5)


def test_gradients_of_broadcasting_are_written_in_tensorflows_ops() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        tf.gradients(tf.reduce_mean(x * tf.ones([3], name="scale"), name="mean"), [x], name="back")
        tf.gradients(x + tf.placeholder(tf.float32, None, name="wide"), [x], name="wide_back")
        types = {node.op for node in graph.as_graph_def().node}
        assert {"BroadcastGradientArgs", "Sum", "Reshape", "BroadcastTo"} <= types
        assert not types & {"SumToLike", "ExpandReduced", "ReducedCount"}


def test_what_is_written_for_a_node_keeps_its_name_and_what_it_waits_for() -> None:
    with tf.Graph().as_default() as graph:
        first = tf.no_op(name="first")
        x, y = tf.placeholder(tf.float32, None, name="x"), tf.placeholder(tf.float32, None, name="y")
        total, given = x + y, tf.placeholder(tf.float32, None, name="given")
        with tf.device("/device:CPU:0"), tf.control_dependencies([first]):
            (gradient,) = tf.gradients(total, [x], grad_ys=[given])
        nodes = {node.name: node for node in graph.as_graph_def().node}
        assert nodes[gradient.op.name].op == "Reshape"
        below = [node for name, node in nodes.items() if name.startswith(f"{gradient.op.name}/")]
        assert {node.device for node in below} == {"/device:CPU:0"}
        assert not any("^first" in node.input for node in below if node.op != "Const")  # what they take waits already
        assert "^first" in nodes[nodes[f"{gradient.op.name}/Sum"].input[0]].input
        assert len(set(nodes)) == len(graph.as_graph_def().node)


def test_later_attributes_are_left_out_unless_they_say_something() -> None:
    with tf.Graph().as_default() as graph:
        tf.get_variable("v", [2], use_resource=True)
        x = tf.placeholder(tf.float32, [1, 4, 4, 1])
        tf.nn.max_pool(x, [1, 2, 2, 1], [1, 1, 1, 1], "VALID", name="pool")
        tf.gather_nd(x, [[0]], name="lenient").op._set_attr("bad_indices_policy", tf.AttrValue(s=b"IGNORE"))
        nodes = {node.name: node for node in graph.as_graph_def().node}
        assert "allowed_devices" not in nodes["v"].attr
        assert "explicit_paddings" not in nodes["pool"].attr
        assert nodes["lenient"].attr["bad_indices_policy"].s == b"IGNORE"


# What has no form in TensorFlow's ops; docs/migration.md says so.
_WITHOUT_FORM = {
    "BranchValue", "BytesInUse", "BytesLimit", "CallExported", "GatherTree", "MaxBytesInUse", "ReplicaBoardPost",
    "ReplicaBoardRead", "ShardQueueTake", "SparseFeatureCross", "WALSComputePartialLhsAndRhs", "_SendControl",
}  # fmt: skip

_LIST_OPS = """
import json
try:
    from tensorflow.python.client import pywrap_tf_session as c
except ImportError:
    from tensorflow.python import pywrap_tensorflow as c
from tensorflow.core.framework import op_def_pb2
ops = op_def_pb2.OpList.FromString(c.TF_GetBuffer(c.TF_GetAllOpList()))
print(json.dumps([op.name for op in ops.op]))
"""


@pytest.mark.oracle
@pytest.mark.timeout(200)
def test_every_op_is_tensorflows_or_has_a_form_in_its_ops() -> None:
    interpreter = os.environ.get(INTERPRETERS[0])
    if not interpreter:
        pytest.skip(f"{INTERPRETERS[0]} names no Python that has TensorFlow; `make interop` makes one")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [interpreter, "-c", _LIST_OPS], env=environment, check=True, timeout=100, capture_output=True, text=True
    )
    theirs = set(json.loads(done.stdout.splitlines()[-1]))
    own = {op.name for op in op_registry.registered() if "." not in op.name} - theirs
    assert {name for name in own if op_registry.form_of(name) is None} <= _WITHOUT_FORM


def test_whether_weights_fit_is_written_in_tensorflows_ops() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        weights, values = tf.placeholder(tf.float32, None, name="weights"), tf.placeholder(tf.float32, None, name="values")
        tf.losses.absolute_difference(values, values, weights)
        fits = next(op.outputs[0] for op in graph.get_operations() if op.type == "WeightsFit")
        with tf.Graph().as_default() as other, tf.Session() as again:
            tf.import_graph_def(graph.as_graph_def(), name="")
            assert all(op.type != "WeightsFit" for op in other.get_operations())
            for shape, wanted in (
                ((), True),
                ((3, 1), True),
                ((3, 2), True),
                ((2, 2), False),
                ((2,), False),
                ((1, 3, 2), False),
            ):
                feeds = {"weights:0": np.ones(shape, np.float32), "values:0": np.ones((3, 2), np.float32)}
                assert again.run(fits.name, feeds) == session.run(fits, feeds) == wanted
