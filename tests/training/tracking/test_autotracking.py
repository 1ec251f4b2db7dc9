"""Objects of a program's own in checkpoints: by attributes, by names that they give, and what is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from weft.python.training.tracking import base

import weft as tf


def _keys(path: str) -> list[str]:
    return [name.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE") for name, _ in tf.train.list_variables(path)]


def _saved(checkpoint: tf.train.Checkpoint, folder: Path) -> str:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return checkpoint.write(str(folder / "model"), session=session)


class _Agent(tf.contrib.checkpoint.Checkpointable):
    def __init__(self) -> None:
        self.step = tf.Variable(3.0, name="any")
        self.replaced: Any = tf.Variable(1.0)
        self.replaced = "gone"
        self.several = [tf.Variable(4.0)]
        self.by_name = {"x": tf.Variable(5.0), "y": 3}
        self.left_out: Any = tf.contrib.checkpoint.NoDependency([tf.Variable(6.0)])
        with base.no_automatic_dependency_tracking_scope(self):
            self.hidden = tf.Variable(7.0)


def test_attributes_are_saved_but_those_that_are_no_dependency(tmp_path: Path) -> None:
    agent = _Agent()
    assert isinstance(agent.left_out, list)
    path = _saved(tf.train.Checkpoint(agent=agent), tmp_path)
    assert _keys(path) == [
        "_CHECKPOINTABLE_OBJECT_GRAPH", "agent/by_name/x", "agent/several/0", "agent/step"
    ]  # fmt: skip


def test_an_attribute_that_is_deleted_is_not_saved(tmp_path: Path) -> None:
    agent = _Agent()
    del agent.step
    assert "agent/step" not in _keys(_saved(tf.train.Checkpoint(agent=agent), tmp_path))


def test_attributes_come_back(tmp_path: Path) -> None:
    path = _saved(tf.train.Checkpoint(agent=_Agent()), tmp_path)
    agent = _Agent()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(agent.step.assign(0.0))
        tf.train.Checkpoint(agent=agent).restore(path).assert_nontrivial_match().run_restore_ops(session)
        assert session.run(agent.step) == 3


class _Named(tf.contrib.checkpoint.CheckpointableBase):
    def __init__(self) -> None:
        self.attribute = tf.Variable(1.0)


def test_an_object_of_the_base_is_saved_by_the_names_that_it_gives(tmp_path: Path) -> None:
    named = _Named()
    variable = named._track_trackable(tf.Variable(2.0), "given")
    assert named._track_trackable(variable, "given") is variable
    assert named._lookup_dependency("given") is variable
    assert named._lookup_dependency("other") is None
    assert [each.name for each in named._checkpoint_dependencies] == ["given"]
    assert "named/given" in _keys(_saved(tf.train.Checkpoint(named=named), tmp_path))


def test_a_name_is_given_once_and_to_what_can_be_saved() -> None:
    named = _Named()
    named._track_trackable(tf.Variable(2.0), "given")
    with pytest.raises(ValueError, match="with name='given', but a Trackable with this name is already declared"):
        named._track_trackable(tf.Variable(3.0), "given")
    other = named._track_trackable(tf.Variable(4.0), "given", overwrite=True)
    assert named._lookup_dependency("given") is other
    with pytest.raises(TypeError, match="passed type <class 'int'>, not a Trackable"):
        named._track_trackable(3, "number")


class _Layer(tf.keras.layers.Layer):
    @base.no_automatic_dependency_tracking
    def __init__(self) -> None:
        super().__init__()
        self.inner = tf.keras.layers.Dense(2)

    def call(self, inputs: Any) -> Any:
        return self.inner(inputs)


class _Model(tf.keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.left_out: Any = tf.contrib.checkpoint.NoDependency([tf.keras.layers.Dense(2)])
        self.several = tf.contrib.checkpoint.List([tf.keras.layers.Dense(2, name="one")])
        self.by_name = tf.contrib.checkpoint.Mapping(a=tf.keras.layers.Dense(2, name="two"))

    def call(self, inputs: Any) -> Any:
        return self.by_name["a"](self.several[0](self.left_out[0](inputs)))


def test_layers_have_no_part_of_what_is_no_dependency() -> None:
    layer, model = _Layer(), _Model()
    layer(tf.ones([1, 2]))
    model(tf.ones([1, 2]))
    assert layer.weights == []
    assert [each.name.split("/")[-2:] for each in model.weights] == [
        ["one", "kernel:0"], ["one", "bias:0"], ["two", "kernel:0"], ["two", "bias:0"]
    ]  # fmt: skip
