"""A Module finds the variables and modules in its attributes, and gives what it builds a name scope."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import weft as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


class Line(tf.Module):
    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)
        self.slope = tf.Variable(2.0, name="slope")
        self.start = tf.Variable(1.0, name="start", trainable=False)

    @tf.Module.with_name_scope
    def at(self, x: float) -> tf.Tensor:
        return tf.add(self.slope * x, self.start, name="y")


class TwoLines(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lines = [Line(), Line("second")]
        self.parts = {"z": Line("z"), "a": (tf.Variable(3.0, name="loose"), 7)}
        self.again = self.parts["z"]
        self.itself = self


def test_a_module_finds_its_variables_in_the_order_of_its_attributes() -> None:
    both = TwoLines()
    assert [v.op.name for v in both.variables] == ["loose", "slope_2", "start_2", "slope", "start", "slope_1", "start_1"]
    assert [v.op.name for v in both.trainable_variables] == ["loose", "slope_2", "slope", "slope_1"]
    assert [each.name for each in both.submodules] == ["z", "line", "second"]


def test_paths_lead_to_what_they_name() -> None:
    both = TwoLines()
    found = dict(both._flatten(recursive=False, predicate=lambda value: isinstance(value, Line), with_path=True))
    assert found == {
        ("again",): both.again,
        ("lines", 0): both.lines[0],
        ("lines", 1): both.lines[1],
        ("parts", "z"): both.again,
    }


def test_a_module_builds_in_its_name_scope() -> None:
    both = TwoLines()
    assert both.name == "two_lines"
    line = both.lines[1]
    assert (line.at(3.0).name, line.at(3.0).name, line.name_scope.name) == ("second/y:0", "second/y_1:0", "second/")


@pytest.mark.parametrize("name", ["a b", "", "1st"])
def test_a_name_that_is_no_identifier_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not a valid module name"):
        tf.Module(name)


def test_a_checkpoint_holds_the_variables_of_a_module(tmp_path: Path) -> None:
    both = TwoLines()
    both.itself = None
    checkpoint = tf.train.Checkpoint(model=both)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = checkpoint.save(str(tmp_path / "model"), session=session)
    assert "model/lines/1/slope/.ATTRIBUTES/VARIABLE_VALUE" in dict(tf.train.list_variables(path))


def test_a_checkpoint_holds_layers_and_optimizers_of_a_module_in_their_order() -> None:
    class Agent(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.z = tf.Variable(1.0)
            self.optimizer = tf.train.AdamOptimizer()
            self.dense = tf.keras.layers.Dense(2)
            self.among = [self.z]
            self.number, self.pair = 3, (self.z,)

    assert [name for name, _ in Agent().checkpoint_dependencies()] == ["z", "optimizer", "dense", "among"]
