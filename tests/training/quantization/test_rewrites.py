"""Rewrites for quantization: what trains and what is evaluated is rounded, and what cannot be rewritten is refused."""

from __future__ import annotations

import numpy as np
import pytest
from weft.contrib import quantize, slim

import weft as tf


def _layer(is_training: bool, **normalizer: object) -> tf.Tensor:
    images = tf.placeholder(tf.float32, [2, 4, 4, 3], name="images")
    norm = {"is_training": is_training, **normalizer}
    return slim.conv2d(images, 4, 3, scope="layer", normalizer_fn=slim.batch_norm, normalizer_params=norm)


def _types() -> list[str]:
    return [op.type for op in tf.get_default_graph().get_operations()]


def test_outputs_have_as_many_levels_as_bits_allow() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        images = tf.placeholder(tf.float32, [8, 16])
        outputs = tf.identity(slim.fully_connected(images, 32, scope="layer"))
        quantize.experimental_create_training_graph(weight_bits=8, activation_bits=3)
        session.run(tf.global_variables_initializer())
        made = session.run(outputs, {images: np.random.RandomState(0).randn(8, 16)})
    assert 4 < len(np.unique(made)) <= 8


def test_a_batch_norm_goes_into_the_weights_and_does_not_change_what_is_computed() -> None:
    for fused in (True, False):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(1)
            outputs = tf.identity(_layer(True, fused=fused, scale=True))
            session.run(tf.global_variables_initializer())
            values = {"images:0": np.random.RandomState(0).rand(2, 4, 4, 3)}
            before = session.run(outputs, values)
            quantize.create_training_graph(quant_delay=100)
            with tf.Session() as later:
                later.run(tf.global_variables_initializer())
                np.testing.assert_allclose(later.run(outputs, values), before, rtol=1e-3, atol=1e-4)
            assert outputs.op.inputs[0].op.name == "layer/act_quant/delayed_quant/Merge"
            assert tf.get_default_graph().get_operation_by_name("layer/add_fold").type == "Add"


def test_a_graph_that_trains_is_refused_and_stays_as_it_is() -> None:
    with tf.Graph().as_default():
        tf.train.AdamOptimizer().minimize(tf.reduce_sum(_layer(True)))
        before = _types()
        with pytest.raises(ValueError, match=r"Training op found in graph, exiting {'ApplyAdam'}.*Rewrite the graph before"):
            quantize.create_training_graph()
        assert _types() == before


def test_a_batch_norm_that_trains_without_averages_is_refused_by_name() -> None:
    with tf.Graph().as_default():
        outputs = slim.conv2d(tf.zeros([2, 4, 4, 3]), 4, 3, activation_fn=None, biases_initializer=None)
        tf.identity(tf.nn.fused_batch_norm(outputs, tf.ones([4]), tf.zeros([4]), name="norm")[0])
        with pytest.raises(ValueError, match="'norm': expected moving averages of mean and variance, found none"):
            quantize.create_training_graph()


def test_nothing_outside_of_the_scope_is_rounded() -> None:
    with tf.Graph().as_default():
        _layer(False)
        quantize.experimental_create_eval_graph(scope="other")
        assert "FakeQuantWithMinMaxVars" not in _types()
        quantize.experimental_create_eval_graph(scope="layer")
        assert _types().count("FakeQuantWithMinMaxVars") == 2


def test_a_second_rewrite_rounds_nothing_again() -> None:
    with tf.Graph().as_default():
        tf.identity(slim.fully_connected(tf.zeros([2, 3]), 4))
        quantize.create_training_graph()
        once = _types().count("FakeQuantWithMinMaxVars")
        quantize.create_training_graph()
        assert _types().count("FakeQuantWithMinMaxVars") == once == 2
