"""A checkpoint of objects tells the names that its variables had."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft as tf
from weft.checkpoint.object_description import keys_by_name


def test_each_name_has_the_key_of_its_value(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        held = tf.get_variable("fruit", [1])
        sess.run(tf.global_variables_initializer())
        objects = tf.train.Checkpoint(v=held).save(str(tmp_path / "objects"))
        names = tf.train.Saver([held]).save(sess, str(tmp_path / "names"))
    assert keys_by_name(objects)["fruit"] == "v/.ATTRIBUTES/VARIABLE_VALUE"
    assert keys_by_name(names) == {}
    with pytest.raises(tf.errors.NotFoundError):
        keys_by_name(tmp_path / "nothing")
