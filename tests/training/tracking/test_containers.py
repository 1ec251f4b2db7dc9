"""Containers whose items checkpoints save, and what they tell of the layers among them."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

checkpoint = tf.contrib.checkpoint


def test_a_list_takes_what_can_be_saved() -> None:
    items = checkpoint.List([tf.Variable(1.0)])
    items.append([tf.Variable(2.0)])
    items.extend([{}])
    assert isinstance(items[1], checkpoint.List)
    assert isinstance(items[2], checkpoint.Mapping)
    for refused in (3, np.zeros(2), "text"):
        with pytest.raises(ValueError, match=r"Only trackable objects .* may be stored in a List object. Got"):
            items.append(refused)
    assert len(items) == 3


def test_lists_are_joined() -> None:
    one, two = tf.Variable(1.0), tf.Variable(2.0)
    items = checkpoint.List([one])
    assert [*items, two] == [one, two]
    assert [two, *items] == [two, one]
    items += [two]
    assert list(items.copy()) == [one, two]
    assert isinstance(items, checkpoint.List)


def test_a_mapping_grows_by_text_alone() -> None:
    value = tf.Variable(1.0)
    entries = checkpoint.Mapping(a=value)
    entries.update({"b": tf.Variable(2.0)})
    entries["a"] = value
    assert list(entries) == ["a", "b"]
    with pytest.raises(TypeError, match="accepts only string keys, but got a key 3"):
        entries[3] = value  # type: ignore[index]
    with pytest.raises(ValueError, match=r"append-only data structure\. Tried to overwrite the key 'a'"):
        entries["a"] = tf.Variable(3.0)


def test_a_container_tells_of_its_layers() -> None:
    layer = tf.keras.layers.Dense(2, kernel_regularizer=tf.keras.regularizers.l2(0.1))
    normal = tf.keras.layers.BatchNormalization()
    normal(layer(tf.ones([1, 3])), training=True)
    own = tf.Variable(1.0, trainable=False)
    items = checkpoint.List([{"a": layer}, normal, own])
    assert items.layers == [layer, normal]
    assert items.trainable_variables == [*layer.weights, normal.gamma, normal.beta]
    assert items.non_trainable_variables == [normal.moving_mean, normal.moving_variance, own]
    assert len(items.losses) == 1
    assert len(items.updates) == 2
    items.trainable = False
    assert items.trainable_weights == []
    assert len(items.weights) == len(items.variables) == 7


def test_names_are_made_unique() -> None:
    names = checkpoint.UniqueNameTracker()
    tracked = [names.track(tf.Variable(1.0), "slot") for _ in range(3)]
    assert [each.name for each in names._checkpoint_dependencies] == ["slot", "slot_1", "slot_2"]
    assert names.variables == tracked
    with pytest.raises(ValueError, match="Expected a trackable value, got 3"):
        names.track(3, "slot")
