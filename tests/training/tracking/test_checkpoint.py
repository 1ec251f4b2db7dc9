"""Checkpoint: which objects it saves under which keys, and how they come back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

import weft as tf

_SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"


def _keys(path: str) -> list[str]:
    return [name.removesuffix(_SUFFIX) for name, _ in tf.train.list_variables(path)]


def _optimizer() -> Any:
    v, w = tf.get_variable("v", [2]), tf.Variable(1.0, name="w")
    optimizer = tf.train.AdamOptimizer(0.1)
    optimizer.minimize(tf.reduce_sum(v * v) + w)
    return tf.train.Checkpoint(v=v, w=w, opt=optimizer)


def _sequential() -> Any:
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(2,)), tf.keras.layers.ReLU(), tf.keras.layers.Dense(1)])
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    optimizer.minimize(tf.reduce_sum(model(tf.ones([4, 2]))), var_list=model.trainable_variables[:1])
    return tf.train.Checkpoint(model=model, opt=optimizer)


class _Model(tf.keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.many = [tf.keras.layers.Dense(1), tf.keras.layers.Dense(1, use_bias=False)]
        self.by = {"a.b": tf.keras.layers.Dense(1, use_bias=False)}

    def call(self, x: Any) -> Any:
        return self.by["a.b"](self.many[1](self.many[0](x)))


def _subclassed() -> Any:
    model = _Model()
    model(tf.ones([3, 2]))
    return tf.train.Checkpoint(model=model)


def _structures() -> Any:
    v, w = tf.get_variable("v", [2]), tf.Variable(1.0, name="w")
    checkpoint = tf.train.Checkpoint(inner=tf.train.Checkpoint(v=v))
    checkpoint.l = [v, w]
    checkpoint.d = {"x/y": w, "z": [tf.Variable(2.0, name="q")]}
    checkpoint.n, checkpoint.s, checkpoint.e, checkpoint.t = 3, "text", [], (w,)
    return checkpoint


def _cells() -> Any:
    layer = tf.layers.Dense(3)
    layer(tf.ones([2, 2]))
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(2)])
    cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    return tf.train.Checkpoint(layer=layer, cell=cell, step=tf.train.get_or_create_global_step())


# The keys are those that TensorFlow 1.15.5 wrote for the same programs.
_WRITTEN: dict[Callable[[], Any], str] = {
    _optimizer: "opt/beta1_power opt/beta2_power save_counter v v/.OPTIMIZER_SLOT/opt/m v/.OPTIMIZER_SLOT/opt/v w "
    "w/.OPTIMIZER_SLOT/opt/m w/.OPTIMIZER_SLOT/opt/v",
    _sequential: "model/layer_with_weights-0/bias model/layer_with_weights-0/kernel "
    "model/layer_with_weights-0/kernel/.OPTIMIZER_SLOT/opt/momentum model/layer_with_weights-1/bias "
    "model/layer_with_weights-1/kernel save_counter",
    _subclassed: "model/by/a..b/kernel model/many/0/bias model/many/0/kernel model/many/1/kernel save_counter",
    _structures: "d/z/0 inner/v l/1 save_counter",
    _cells: "cell/cell-0/candidate.Sbias cell/cell-0/candidate.Skernel cell/cell-0/gates.Sbias cell/cell-0/gates.Skernel "
    "layer/bias layer/kernel save_counter step",
}


@pytest.mark.parametrize("program", list(_WRITTEN), ids=lambda each: each.__name__.strip("_"))
def test_objects_have_tensorflows_keys_and_come_back(program: Callable[[], Any], tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        checkpoint = program()
        session.run(tf.global_variables_initializer())
        path = checkpoint.save(str(tmp_path / "model"), session)
        assert path == str(tmp_path / "model-1") == tf.train.latest_checkpoint(str(tmp_path))
        assert _keys(path) == ["_CHECKPOINTABLE_OBJECT_GRAPH", *_WRITTEN[program].split()]
        saved = {each.op.name: session.run(each) for each in tf.global_variables()}
    with tf.Graph().as_default(), tf.Session() as session:
        checkpoint = program()
        checkpoint.restore(path).assert_consumed().initialize_or_restore(session)
        for each in tf.global_variables():
            np.testing.assert_array_equal(session.run(each), saved[each.op.name])


def test_the_description_of_objects_is_tensorflows(tmp_path: Path) -> None:
    checkpoint = _structures()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = checkpoint.save(str(tmp_path / "m"))
    graph = TrackableObjectGraph.FromString(tf.train.load_checkpoint(path).get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"))
    assert [[(child.local_name, child.node_id) for child in node.children] for node in graph.nodes] == [
        [("inner", 1), ("l", 2), ("d", 3), ("e", 4), ("save_counter", 5)], [("v", 6)], [("0", 6), ("1", 7)],
        [("x/y", 7), ("z", 8)], [], [], [], [], [("0", 9)], [],
    ]  # fmt: skip
    assert graph.nodes[9].attributes[0].full_name == "q"


def test_values_are_found_by_attributes_whatever_the_variables_names(tmp_path: Path) -> None:
    first = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0], name="old"))
    second = tf.train.Checkpoint(v=tf.Variable([0.0, 0.0], name="new"))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = first.write(str(tmp_path / "made" / "w"))
        second.restore(path).run_restore_ops()
        np.testing.assert_array_equal(session.run(second.v), [1.0, 2.0])


def test_variables_that_come_after_the_restore_get_their_values(tmp_path: Path) -> None:
    def model() -> Any:
        return tf.keras.Sequential([tf.keras.layers.Dense(1)])

    with tf.Graph().as_default(), tf.Session() as session:
        checkpoint = tf.train.Checkpoint(model=model())
        checkpoint.model(tf.ones([1, 2]))
        session.run(tf.global_variables_initializer())
        path, kernel = checkpoint.save(str(tmp_path / "m")), session.run(checkpoint.model.weights[0])
    with tf.Graph().as_default(), tf.Session() as session:
        checkpoint = tf.train.Checkpoint(model=model())
        status = checkpoint.restore(path).assert_existing_objects_matched()
        with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\)\.model\.layer"):
            status.assert_consumed()
        checkpoint.model(tf.ones([1, 2]))
        status.assert_consumed().initialize_or_restore(session)
        np.testing.assert_array_equal(session.run(checkpoint.model.weights[0]), kernel)
        assert checkpoint.save(str(tmp_path / "m")).endswith("m-2")


def test_what_the_checkpoint_lacks_is_initialized_and_told(tmp_path: Path) -> None:
    first = tf.train.Checkpoint(v=tf.Variable(1.0))
    second = tf.train.Checkpoint(v=tf.Variable(0.0), w=tf.Variable(5.0, name="lacked"))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        status = second.restore(first.save(str(tmp_path / "m")))
        with pytest.raises(AssertionError, match=r"Some Python objects were not bound to checkpointed values.*lacked"):
            status.assert_existing_objects_matched()
        status.assert_nontrivial_match().expect_partial()
    with tf.Session() as session:
        status.initialize_or_restore()
        assert session.run([second.v, second.w]) == [1.0, 5.0]


def test_without_a_checkpoint_variables_are_initialized() -> None:
    checkpoint = tf.train.Checkpoint(v=tf.Variable(3.0))
    status = checkpoint.restore(None)
    with pytest.raises(AssertionError, match=r"No checkpoint specified \(save_path=None\)"):
        status.assert_consumed()
    with tf.Session() as session:
        status.initialize_or_restore(session)
        assert session.run([checkpoint.v, checkpoint.save_counter]) == [3.0, 0]


def test_a_savers_checkpoint_is_restored_by_names(tmp_path: Path) -> None:
    variable = tf.Variable([1.0, 2.0], name="v")
    counter = tf.Variable(np.int64(7), name="save_counter")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    del counter
    with tf.Graph().as_default(), tf.Session() as session:
        checkpoint = tf.train.Checkpoint(other=tf.Variable([0.0, 0.0], name="v"))
        status = checkpoint.restore(path)
        with pytest.raises(AssertionError, match="Object not restored"):
            status.assert_consumed()
        status.initialize_or_restore(session)
        status.assert_consumed()
        np.testing.assert_array_equal(session.run(checkpoint.other), [1.0, 2.0])
    assert variable.op.name == "v"


@pytest.mark.parametrize(
    ("mistake", "error", "text"),
    [
        (lambda: tf.train.Checkpoint(v=3), ValueError, "was expecting a trackable object .* got 3"),
        (lambda: tf.train.Checkpoint().restore("/absent/model"), tf.errors.NotFoundError, "Failed to find any matching files"),
        (lambda: _with_numbers().write("m", tf.Session()), ValueError, "Unable to save the object .* non-string key"),
    ],
)
def test_mistakes_are_named(mistake: Callable[[], object], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        mistake()


def test_without_a_default_session_that_of_keras_saves(tmp_path: Path) -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    kernel = model.get_weights()[0]
    path = tf.train.Checkpoint(model=model).write(str(tmp_path / "m"))
    saved = tf.train.load_variable(path, f"model/layer_with_weights-0/kernel{_SUFFIX}")
    np.testing.assert_array_equal(saved, kernel)
    tf.keras.backend.clear_session()


def _with_numbers() -> Any:
    checkpoint = tf.train.Checkpoint()
    checkpoint.d = {1: tf.Variable(1.0)}
    return checkpoint


def test_saving_again_adds_no_nodes(tmp_path: Path) -> None:
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        status = checkpoint.restore(checkpoint.save(str(tmp_path / "m")))
        status.run_restore_ops()
        tf.get_default_graph().finalize()
        status.run_restore_ops()
        assert checkpoint.save(str(tmp_path / "m")).endswith("m-2")
