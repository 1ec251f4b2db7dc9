"""Layers say which losses and updates they have made."""

from __future__ import annotations

import pytest

import weft as tf


def test_losses_of_variables_are_among_the_losses_of_their_layer() -> None:
    x, layer = tf.ones([1, 2]), tf.layers.Dense(2, kernel_regularizer=tf.reduce_sum, activity_regularizer=tf.reduce_sum)
    layer(x)
    layer(x)
    of_outputs, of_kernel = layer.losses[:2], layer.losses[2:]
    assert len(of_kernel) == 1
    assert layer.get_losses_for(None) == of_kernel
    assert layer.get_losses_for(x) == of_outputs
    assert set(tf.losses.get_regularization_losses()) == {*of_outputs, *of_kernel}


def test_no_loss_is_left_out() -> None:
    layer, loss = tf.layers.Layer(), tf.constant(1.0)
    layer.add_loss([None, loss])
    layer.add_loss(None)
    assert layer.losses == [loss]
    assert tf.losses.get_regularization_losses() == [loss]


def test_what_is_no_update_is_told() -> None:
    with pytest.raises(ValueError, match=r"add_update of Layer takes operations.*not None"):
        tf.layers.Layer().add_update([None, tf.no_op()])


def test_what_no_call_had_does_not_depend_on_inputs() -> None:
    layer, x, y = tf.layers.Layer(), tf.ones([2]), tf.ones([3])
    updates = [tf.negative(x).op, tf.negative(y).op]
    layer.add_update(updates)
    assert layer.get_updates_for(None) == updates
    layer.note_call([x, {"more": x}], x)
    assert layer.get_updates_for(None) == updates[1:]
    layer.note_call(y, y)
    assert layer.get_updates_for(None) == []
    assert layer.get_updates_for(y) == updates[1:]


def test_losses_may_be_numbers_and_functions() -> None:
    layer, made = tf.layers.Layer(), tf.constant(2.0)
    layer.add_loss([3, lambda: made])
    assert layer.losses[0].dtype == tf.float32
    assert layer.losses[1] is made
    assert tf.losses.get_regularization_losses() == layer.losses


@pytest.mark.parametrize("layer", [tf.layers.Layer, tf.keras.layers.Layer])
def test_what_is_no_loss_is_told(layer: type) -> None:
    for loss in "much", object():
        with pytest.raises(TypeError, match="float32"):
            layer().add_loss(loss)


def test_a_penalty_on_activities_is_a_mean_over_the_batch():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    tf.layers.dense(x, 3, kernel_initializer=tf.ones_initializer(), activity_regularizer=tf.nn.l2_loss)
    (penalty,) = tf.losses.get_regularization_losses()
    assert penalty.name == "dense/ActivityRegularizer/truediv:0"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(penalty) == 89.5
