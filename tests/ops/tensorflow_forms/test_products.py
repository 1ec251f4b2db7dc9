"""Sums of products of several tensors are written for TensorFlow as sums of products of two, the small ones first."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
        ("ab,b,cb,a->c", [(2, 3), (3,), (4, 3), (2,)]),
        ("...ij,jk,kl->...il", [(6, 2, 3), (3, 4), (4, 5)]),
        ("ii,ij,k->jk", [(3, 3), (3, 2), (4,)]),
    ],
)
def test_it_is_written_as_products_of_two(equation: str, shapes: list[tuple[int, ...]]) -> None:
    values = [np.random.RandomState(number).rand(*shape) for number, shape in enumerate(shapes)]
    with tf.Graph().as_default() as graph:
        fed = [tf.placeholder(tf.float64, shape, name=f"in{number}") for number, shape in enumerate(shapes)]
        made = tf.einsum(equation, *fed, name="made")
        definition = graph.as_graph_def()
    counts = [node.attr["N"].i for node in definition.node if node.op == "Einsum"]
    assert counts == [2] * (len(shapes) - 1)
    with tf.Graph().as_default(), tf.Session() as session:
        (again,) = tf.import_graph_def(definition, return_elements=[made.name])
        found = session.run(again, {f"import/in{number}:0": value for number, value in enumerate(values)})
    np.testing.assert_allclose(found, np.einsum(equation, *values))


def test_the_pair_with_the_smallest_product_is_first() -> None:
    with tf.Graph().as_default() as graph:
        tf.einsum("ij,jk,kl->il", tf.ones([50, 2]), tf.ones([2, 40]), tf.ones([40, 3]))
        equations = [node.attr["equation"].s for node in graph.as_graph_def().node if node.op == "Einsum"]
    assert equations == [b"jk,kl->jl", b"ij,jl->il"]
