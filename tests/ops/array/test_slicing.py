from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.framework.graphs.graph import Graph
from weft.testing.op_checks import evaluate

CUBE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


class _Index:
    def __getitem__(self, index: Any) -> Any:
        return index


INDICES = [
    _Index()[0], _Index()[-1], _Index()[..., 0], _Index()[:, 1:], _Index()[::-1], _Index()[None, :, None, 1],
    _Index()[..., None], _Index()[1, 2, 3], _Index()[:, ::2, ::-2], _Index()[-5:5:2], _Index()[..., 1:0],
    _Index()[np.int64(1), ...], _Index()[1:, -2:-1],
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indexing_gives_what_numpy_gives(index: Any) -> None:
    with Graph().as_default():
        x = tf.placeholder(tf.float32, [2, 3, 4])
        part = x[index]
        assert part.shape.as_list() == list(CUBE[index].shape)
        np.testing.assert_array_equal(evaluate([part], {x: CUBE})[0], CUBE[index])


def test_tensors_may_stand_in_an_index() -> None:
    with Graph().as_default():
        x, i = tf.placeholder(tf.float32, [2, 3, 4]), tf.placeholder(tf.int64, [])
        part = x[1, i:, ..., :i]
        np.testing.assert_array_equal(evaluate([part], {x: CUBE, i: np.int64(1)})[0], CUBE[1, 1:, ..., :1])


def test_a_boolean_mask_selects_rows() -> None:
    with Graph().as_default():
        x, mask = tf.placeholder(tf.float32, [2, 3, 4]), np.array([[True, False, True], [False, False, True]])
        np.testing.assert_array_equal(evaluate([x[mask]], {x: CUBE})[0], CUBE[mask])


def test_the_index_vectors_are_named_under_the_slice() -> None:
    with Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 3, 4], name="x")
        assert x[0].name == "strided_slice:0"
        names = [op.name for op in graph.get_operations()]
        assert names == ["x", "strided_slice/stack", "strided_slice/stack_1", "strided_slice/stack_2", "strided_slice"]


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        (5, ValueError, "slice index 5 of dimension 0 out of bounds"),
        ((0, 0, 0, 0), ValueError, "Index out of range using input dim 3; input has only 3 dims"),
        ((..., ...), ValueError, "Multiple ellipses in slice spec not allowed"),
        (slice(None, None, 0), ValueError, r"strides\[0\] must be non-zero"),
        ("a", TypeError, r"Only integers, slices .* are valid indices, got 'a'"),
        (1.5, TypeError, r"Only integers, slices .* are valid indices, got 1.5"),
    ],
)
def test_impossible_indices_are_refused_while_building(index: Any, error: type[Exception], text: str) -> None:
    with Graph().as_default():
        x = tf.placeholder(tf.float32, [2, 3, 4])
        with pytest.raises(error, match=text):
            x[index]


def test_slices_of_unknown_sizes_stay_unknown() -> None:
    with Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3])
        assert x[1:].shape.as_list() == [None, 3]
        assert x[0].shape.as_list() == [3]
        assert tf.placeholder(tf.float32)[0].shape.ndims is None


def test_an_index_that_fitted_longer_inputs_is_refused_of_shorter_ones() -> None:
    with Graph().as_default():
        x, i = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int32, [])
        part = x[i]
        for rows in (6, 7, 6):
            rows_of = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
            np.testing.assert_array_equal(evaluate([part], {x: rows_of, i: np.int32(5)})[0], rows_of[5])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"slice index 5 of dimension 0 out of bounds"):
            evaluate([part], {x: np.zeros([5, 2], np.float32), i: np.int32(5)})
