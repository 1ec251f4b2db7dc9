"""Variables that take their initial values out of a checkpoint, and what checkpoints tell of themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    """A checkpoint with a/w, a/b and p, cut in two, and the state file beside it."""
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.Variable([[1.0, 2.0]], name="a/w")
        tf.Variable(3.0, name="a/b")
        value = tf.constant([1.0, 2.0, 3.0, 4.0])
        tf.get_variable("p", initializer=value, partitioner=tf.fixed_size_partitioner(2))
        sess.run(tf.global_variables_initializer())
        return str(tf.train.Saver().save(sess, str(tmp_path / "m"), global_step=5))


def initialized() -> list[Any]:
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [value.tolist() for value in sess.run(tf.global_variables())]


def test_a_checkpoint_is_found_by_its_directory(checkpoint: str, tmp_path: Path) -> None:
    assert tf.train.list_variables(str(tmp_path)) == [("a/b", []), ("a/w", [1, 2]), ("p", [4])]
    assert tf.train.load_variable(str(tmp_path), "a/b:0") == 3.0
    assert tf.train.load_checkpoint(checkpoint).has_tensor("a/w")
    assert tf.train.NewCheckpointReader(checkpoint).get_tensor("p").tolist() == [1.0, 2.0, 3.0, 4.0]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file or checkpoints in given directory"):
        tf.train.list_variables(str(tmp_path / "empty"))


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_are_initialized_by_name_or_object(checkpoint: str, use_resource: bool) -> None:
    variable = tf.get_variable("x", [1, 2], use_resource=use_resource)
    tf.get_variable("y", [], use_resource=use_resource)
    tf.train.init_from_checkpoint(checkpoint, {"a/w": variable, "a/b": "y"})
    assert initialized() == [[[1.0, 2.0]], 3.0]


def test_scopes_are_mapped_to_scopes(checkpoint: str) -> None:
    with tf.variable_scope("mine"):
        tf.get_variable("w", [1, 2])
        tf.get_variable("b", [])
    tf.train.init_from_checkpoint(checkpoint, {"a/": "mine/"})
    assert initialized() == [[[1.0, 2.0]], 3.0]


def test_the_root_is_mapped_to_the_root(checkpoint: str) -> None:
    tf.get_variable("a/b", [])
    tf.train.init_from_checkpoint(checkpoint, {"/": "/"})
    assert initialized() == [3.0]


def test_parts_take_their_slices(checkpoint: str) -> None:
    tf.get_variable("mine", [4], partitioner=tf.fixed_size_partitioner(4))
    tf.train.init_from_checkpoint(checkpoint, {"p": "mine"})
    assert initialized() == [[1.0], [2.0], [3.0], [4.0]]


def test_what_does_not_fit_is_told(checkpoint: str) -> None:
    variable = tf.get_variable("mine/w", [3])
    with pytest.raises(ValueError, match="Tensor none is not found in"):
        tf.train.init_from_checkpoint(checkpoint, {"none": variable})
    with pytest.raises(ValueError, match=r"Shape of variable mine/w:0 .* doesn't match with shape of tensor a/w"):
        tf.train.init_from_checkpoint(checkpoint, {"a/w": variable})
    with pytest.raises(ValueError, match="Assignment map with scope only name mine should map to scope only a"):
        tf.train.init_from_checkpoint(checkpoint, {"a": "mine/"})
    with pytest.raises(ValueError, match="Tensor p/w"):
        tf.train.init_from_checkpoint(checkpoint, {"p/": "mine/"})


def test_a_restore_wins_over_initial_values(checkpoint: str) -> None:
    variable = tf.get_variable("a/b", [])
    tf.train.init_from_checkpoint(checkpoint, {"a/b": variable})
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(variable.initializer)
        sess.run(variable.assign(9.0))
        saver.restore(sess, checkpoint)
        assert sess.run(variable) == np.float32(3.0)
