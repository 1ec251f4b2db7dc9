"""The networks have the variables and outputs that TensorFlow 1.15.5's have; `expected.json` was made there by `described` and
`computed` below, which run with either system.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

_EXPECTED: dict[str, Any] = json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))

_NETS: dict[str, tuple[str, int, dict[str, Any]]] = {
    "alexnet_v2": ("alexnet", 224, {}),
    "overfeat": ("overfeat", 231, {}),
    "vgg_a": ("vgg", 224, {}),
    "vgg_16": ("vgg", 224, {"num_classes": 10}),
    "vgg_19": ("vgg", 256, {"spatial_squeeze": False}),
    "resnet_v1_50": ("resnet_v1", 64, {"num_classes": 10}),
    "resnet_v1_101": ("resnet_v1", 64, {"output_stride": 8, "global_pool": False}),
    "resnet_v2_50": ("resnet_v2", 64, {"num_classes": 10}),
    "resnet_v2_101": ("resnet_v2", 64, {"output_stride": 16, "is_training": False}),
    "inception_v1": ("inception", 224, {"num_classes": 7}),
    "inception_v2": ("inception", 100, {"depth_multiplier": 0.25}),
    "inception_v3": ("inception", 299, {"num_classes": 7}),
}
_COMPUTED = ("resnet_v1", "resnet_v2", "inception_v2", "inception_v3")


def described(tf, name: str) -> list[object]:
    """Checksums of a network's variables, and of its outputs by name, with their numbers."""
    module, size, kwargs = _NETS[name]
    nets = getattr(tf.contrib.slim.nets, module)
    arguments = {"resnet_v1": "resnet", "resnet_v2": "resnet"}.get(module, name if module == "inception" else module)
    arguments = "alexnet_v2" if module == "alexnet" else arguments
    with tf.Graph().as_default(), tf.contrib.slim.arg_scope(getattr(nets, f"{arguments}_arg_scope")()):
        images = tf.placeholder(tf.float32, [2, size, size, 3])
        net, ends = getattr(nets, name)(images, **kwargs)
        variables = [(each.name, each.shape.as_list(), each in tf.trainable_variables()) for each in tf.global_variables()]
        outputs = sorted((key, each.name, each.shape.as_list()) for key, each in ends.items())
        counts = [len(variables), len(outputs), len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)), len(tf.losses.get_losses())]
        averages = [each.name for each in tf.get_collection("moving_vars")]
    texts = [json.dumps(each).encode() for each in (variables, outputs, averages)]
    return [net.name, net.shape.as_list(), *counts, *map(zlib.crc32, texts)]


def computed(tf, name: str) -> list[float]:
    """What a small network of this kind makes of an image with weights that follow from their names."""
    nets = tf.contrib.slim.nets
    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.constant(np.sin(np.arange(2 * 107 * 107 * 3) % 97).reshape(2, 107, 107, 3), tf.float32)
        if name.startswith("resnet"):
            form = getattr(nets, name)
            block = getattr(form, f"{name}_block")
            blocks = [block("a", base_depth=2, num_units=2, stride=2), block("b", base_depth=4, num_units=2, stride=2)]
            with tf.contrib.slim.arg_scope(form.resnet_arg_scope()):
                net, _ = getattr(form, name)(images, blocks, 3, is_training=False, output_stride=8, scope="net")
        else:
            with tf.contrib.slim.arg_scope(getattr(nets.inception, f"{name}_arg_scope")()):
                net, _ = getattr(nets.inception, name)(images, 3, is_training=False, min_depth=4, depth_multiplier=0.1)
        for variable in tf.global_variables():
            shape = variable.shape.as_list()
            values = np.sin(np.arange(np.prod(shape)) * 1.7 + zlib.crc32(variable.name.encode()) % 97)
            # A variance is positive; the others are small enough for many layers.
            values = 1 + 0.5 * values if "variance" in variable.name else 0.3 * values
            variable.load(values.reshape(shape).astype(np.float32), session)
        return [float(f"{each:.4g}") for each in session.run(net).ravel()]


@pytest.mark.parametrize("name", _NETS)
def test_a_network_has_the_variables_and_outputs_of_tensorflow(name: str) -> None:
    assert described(tf, name) == _EXPECTED["described"][name]


@pytest.mark.parametrize("name", _COMPUTED)
def test_a_network_computes_what_tensorflow_computes(name: str) -> None:
    np.testing.assert_allclose(computed(tf, name), _EXPECTED["computed"][name], rtol=2e-3, atol=1e-5)


def test_a_depth_that_cannot_be_and_a_layer_that_is_not_there_are_refused() -> None:
    inception = tf.contrib.slim.nets.inception
    images = tf.zeros([1, 64, 64, 3])
    with pytest.raises(ValueError, match="depth_multiplier is not greater than zero"):
        inception.inception_v3(images, depth_multiplier=0)
    with pytest.raises(ValueError, match="Unknown final endpoint Mixed_9z; there are Conv2d_1a_3x3"):
        inception.inception_v3_base(images, "Mixed_9z", depth_multiplier=0.1)


def test_a_stride_that_the_blocks_do_not_reach_is_refused() -> None:
    resnet = tf.contrib.slim.nets.resnet_v1
    images = tf.zeros([1, 64, 64, 3])
    with pytest.raises(ValueError, match="needs to be a multiple of 4"):
        resnet.resnet_v1_50(images, output_stride=6)
    with pytest.raises(ValueError, match="target output_stride cannot be reached"):
        resnet.resnet_v1_50(images, output_stride=64, scope="other")


def test_residual_networks_lead_to_what_they_are_made_of() -> None:
    nets = tf.contrib.slim.nets
    assert nets.resnet_v1.resnet_utils is nets.resnet_v2.resnet_utils is nets.resnet_utils


def test_a_convolution_with_a_stride_is_every_other_place_of_one_without() -> None:
    utilities = tf.contrib.slim.nets.resnet_utils
    images = tf.constant(np.random.default_rng(0).normal(size=(1, 8, 8, 2)), tf.float32)
    strided = utilities.conv2d_same(images, 3, 3, stride=2, scope="conv")
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        whole = utilities.subsample(utilities.conv2d_same(images, 3, 3, stride=1, scope="conv"), 2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(*session.run((strided, whole)), rtol=1e-5)
