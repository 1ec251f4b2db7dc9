"""Random nodes without a seed get one by the number of nodes before them: layers count as many as TensorFlow 1.15 makes."""

import pytest

import weft as tf

layers, contributed = tf.layers, tf.contrib.layers

# What is made of [None, 8, 8, 1] images, a [None, 8, 4] sequence and [None, 4, 4, 4, 1] volumes, and TensorFlow 1.15.5's nodes.
COUNTS = {
    "conv1d": (
        lambda images, sequence, volumes: layers.conv1d(sequence, 4, 3),
        25,
    ),
    "conv2d": (
        lambda images, sequence, volumes: layers.conv2d(images, 4, 3),
        20,
    ),
    "conv2d dilated": (
        lambda images, sequence, volumes: layers.conv2d(images, 4, 3, dilation_rate=2),
        30,
    ),
    "conv3d": (
        lambda images, sequence, volumes: layers.conv3d(volumes, 4, 3),
        20,
    ),
    "conv2d_transpose same": (
        lambda images, sequence, volumes: layers.conv2d_transpose(images, 4, 3, 2, "same"),
        42,
    ),
    "conv2d_transpose valid": (
        lambda images, sequence, volumes: layers.conv2d_transpose(images, 4, 3, 2),
        46,
    ),
    "conv3d_transpose": (
        lambda images, sequence, volumes: layers.conv3d_transpose(volumes, 4, 3, 2),
        50,
    ),
    "separable_conv2d": (
        lambda images, sequence, volumes: layers.separable_conv2d(images, 4, 3),
        32,
    ),
    "dense of a sequence": (
        lambda images, sequence, volumes: layers.dense(sequence, 3),
        43,
    ),
    "batch_normalization fused": (
        lambda images, sequence, volumes: layers.batch_normalization(images, training=True),
        33,
    ),
    "batch_normalization for evaluation": (
        lambda images, sequence, volumes: layers.batch_normalization(images),
        21,
    ),
    "batch_normalization of virtual batches": (
        lambda images, sequence, volumes: layers.batch_normalization(sequence, virtual_batch_size=2, training=True),
        49,
    ),
    "batch_normalization of virtual batches where a step tells": (
        lambda images, sequence, volumes: layers.batch_normalization(
            sequence, virtual_batch_size=2, training=tf.placeholder_with_default(True, [])
        ),
        83,
    ),
    "contributed batch_norm with limits of renormalization": (
        lambda images, sequence, volumes: contributed.batch_norm(
            images, renorm=True, renorm_clipping={"rmax": 3.0, "rmin": 0.3, "dmax": 5.0}
        ),
        95,
    ),
    "contributed batch_norm": (
        lambda images, sequence, volumes: contributed.batch_norm(images),
        30,
    ),
    "contributed batch_norm in place": (
        lambda images, sequence, volumes: contributed.batch_norm(images, updates_collections=None),
        28,
    ),
    "softmax of a middle axis": (
        lambda images, sequence, volumes: tf.nn.softmax(sequence, axis=1),
        34,
    ),
    "flatten": (
        lambda images, sequence, volumes: layers.flatten(images),
        11,
    ),
    "contributed flatten": (
        lambda images, sequence, volumes: contributed.flatten(volumes),
        11,
    ),
    "sort of a middle axis": (
        lambda images, sequence, volumes: tf.sort(sequence, axis=1),
        16,
    ),
    "argsort": (
        lambda images, sequence, volumes: tf.argsort(sequence, direction="DESCENDING"),
        11,
    ),
    "clip_by_global_norm": (
        lambda images, sequence, volumes: tf.clip_by_global_norm([sequence], 1.0),
        23,
    ),
}


@pytest.mark.parametrize("name", COUNTS)
def test_a_random_node_after_a_layer_gets_tensorflows_seed(name):
    build, count = COUNTS[name]
    with tf.Graph().as_default() as graph:
        inputs = [tf.placeholder(tf.float32, shape) for shape in ([None, 8, 8, 1], [None, 8, 4], [None, 4, 4, 4, 1])]
        tf.set_random_seed(5)
        build(*inputs)
        tf.random_uniform([1])
        *_, node = (each for each in graph.get_operations() if each.type == "RandomUniform")
    assert node.get_attr("seed2") - len(inputs) == count
