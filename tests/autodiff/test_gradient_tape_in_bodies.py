"""GradientTape in the bodies of functions, loops and branches. Expected values are TensorFlow 1.15.5's."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf


@pytest.fixture(params=[True, False], ids=["resource", "reference"])
def v(request: pytest.FixtureRequest) -> Any:
    return tf.get_variable("v", initializer=2.0, use_resource=request.param)


def _value(fetches: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def test_a_function_differentiates_for_a_variable_around_it(v: Any) -> None:
    watched = []

    @tf.function
    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = v * v * tf.reduce_sum(x)
        watched.extend(tape.watched_variables())
        return tape.gradient(loss, v)

    assert _value(gradient(tf.constant([1.0, 2.0, 3.0]))) == 24
    assert watched == [v]


def test_a_function_differentiates_for_a_tensor_around_it_once_it_is_watched(v: Any) -> None:
    y, other = tf.constant(5.0), tf.constant(1.0)

    @tf.function
    def gradients() -> Any:
        with tf.GradientTape(persistent=True) as tape:
            before = y * y
            tape.watch(y)
            loss = v * y * other
        assert tape.gradient(before, y) is None
        assert tape.gradient(loss, other) is None
        return tape.gradient(loss, [y, v])

    assert _value(gradients()) == [2, 5]


def test_what_was_computed_before_the_tape_is_not_gone_through(v: Any) -> None:
    before = v * v

    @tf.function
    def gradient() -> Any:
        with tf.GradientTape() as tape:
            loss = v * before
        return tape.gradient(loss, v)

    assert _value(gradient()) == 4


def test_layers_of_a_function_within_a_function_have_gradients() -> None:
    layer = tf.keras.layers.Dense(1, kernel_initializer="ones")
    layer(tf.ones([1, 3]))

    @tf.function
    def loss(x: Any) -> Any:
        return tf.reduce_sum(layer(x))

    @tf.function
    def gradients(x: Any) -> Any:
        with tf.GradientTape() as tape:
            found = loss(x)
        return tape.gradient(found, layer.trainable_weights)

    kernel, bias = _value(gradients(tf.constant([[1.0, 2.0, 3.0]])))
    assert kernel.ravel().tolist() == [1, 2, 3]
    assert bias.tolist() == [1]


def test_a_loop_and_a_branch_differentiate_for_variables_around_them(v: Any) -> None:
    def grow(total: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = v * v
        return total + tape.gradient(loss, v)

    def differentiated() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.cond(v > 1, lambda: v * v * 3, lambda: 0.0)
        return tape.gradient(loss, v)

    looped = tf.while_loop(lambda total: total < 10, grow, [0.0])
    branched = tf.cond(tf.constant(2) > 1, differentiated, lambda: 0.0)
    assert _value([looped, branched]) == [12, 12]
