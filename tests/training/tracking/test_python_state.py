"""State of Python that checkpoints save beside variables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weft as tf


class _Counter(tf.contrib.checkpoint.PythonStateWrapper):
    def __init__(self) -> None:
        self.count = 0

    def serialize(self) -> str:
        return str(self.count)

    def deserialize(self, string_value: bytes) -> None:
        self.count = int(string_value)


def _state() -> tuple[tf.train.Checkpoint, _Counter, tf.contrib.checkpoint.NumpyState]:
    counter, arrays = _Counter(), tf.contrib.checkpoint.NumpyState()
    return tf.train.Checkpoint(counter=counter, arrays=arrays, variable=tf.Variable(1.0)), counter, arrays


def test_each_save_has_the_state_of_its_time(tmp_path: Path) -> None:
    checkpoint, counter, arrays = _state()
    paths = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for number in range(2):
            counter.count = number
            arrays.values = np.arange(number + 1)
            paths.append(checkpoint.save(str(tmp_path / "model"), session=session))
            size = len(session.graph.get_operations())
    # The second save adds no nodes.
    assert len(session.graph.get_operations()) == size
    for number, path in enumerate(paths):
        restored, counter, arrays = _state()
        restored.restore(path).assert_existing_objects_matched()
        assert counter.count == number
        np.testing.assert_array_equal(arrays.values, np.arange(number + 1))


def test_the_keys_are_tensorflows(tmp_path: Path) -> None:
    checkpoint, _, arrays = _state()
    arrays.one = np.float32(2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = checkpoint.write(str(tmp_path / "model"), session=session)
    keys = [name for name, _ in tf.train.list_variables(path)]
    assert "counter/.ATTRIBUTES/py_state" in keys
    assert "arrays/one/.ATTRIBUTES/py_state" in keys


def test_the_state_comes_back_once(tmp_path: Path) -> None:
    checkpoint, counter, _ = _state()
    counter.count = 3
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        status = checkpoint.restore(checkpoint.write(str(tmp_path / "model"), session=session))
        counter.count = 5
        status.initialize_or_restore(session)
    assert counter.count == 5


def test_attributes_are_arrays_alone() -> None:
    arrays = tf.contrib.checkpoint.NumpyState()
    arrays.values = np.zeros(2)
    arrays.values = np.ones(3)
    np.testing.assert_array_equal(arrays.values, np.ones(3))
    with pytest.raises(NotImplementedError, match=r"Assigned \[1\] to the other property of .* which is not a NumPy array"):
        arrays.other = [1]
    del arrays.values
    assert not hasattr(arrays, "values")


def test_an_array_that_no_checkpoint_could_give_back_is_refused() -> None:
    arrays = tf.contrib.checkpoint.NumpyState()
    with pytest.raises(TypeError, match="an array of Python's objects to the names property"):
        arrays.names = np.array(["a", None], object)
