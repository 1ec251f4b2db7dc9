"""Shapes and dimensions that may be partly unknown: what programs compute with them, and how they are printed."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.framework.types.dimension import Dimension
from weft.framework.types.tensor_shape import TensorShape

UNKNOWN = TensorShape(None)


@pytest.mark.parametrize(
    ("value", "text", "representation"),
    [
        (None, "<unknown>", "TensorShape(None)"),
        ([], "()", "TensorShape([])"),
        ([1], "(1,)", "TensorShape([Dimension(1)])"),
        ([None], "(?,)", "TensorShape([Dimension(None)])"),
        ([1, None, 3], "(1, ?, 3)", "TensorShape([Dimension(1), Dimension(None), Dimension(3)])"),
        (7, "(7,)", "TensorShape([Dimension(7)])"),
        (np.array([1, 2]), "(1, 2)", "TensorShape([Dimension(1), Dimension(2)])"),
        ([Dimension(3), None], "(3, ?)", "TensorShape([Dimension(3), Dimension(None)])"),
    ],
)
def test_a_shape_is_made_of_many_things_and_printed(value: Any, text: str, representation: str) -> None:
    shape = TensorShape(value)
    assert str(shape) == text
    assert repr(shape) == representation
    assert TensorShape(shape.as_proto()) == shape
    assert pickle.loads(pickle.dumps(shape)) == shape
    assert copy.copy(shape) == shape


@pytest.mark.parametrize(("value", "error"), [("abc", TypeError), ([-1], ValueError), ([1.5], ValueError), ([[1]], TypeError)])
def test_what_is_no_shape_is_refused(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        TensorShape(value)


def test_what_is_known_of_a_shape() -> None:
    shape = TensorShape([2, None])
    assert (shape.ndims, shape.rank, len(shape), shape.as_list()) == (2, 2, 2, [2, None])
    assert shape.num_elements() is None
    assert TensorShape([2, 3]).num_elements() == 6
    assert TensorShape([]).num_elements() == 1
    assert shape.dims == [Dimension(2), Dimension(None)] or shape.dims[1].value is None  # type: ignore[index]
    assert not shape.is_fully_defined()
    assert TensorShape([2]).is_fully_defined()
    assert bool(TensorShape([]))
    assert not bool(UNKNOWN)


def test_a_shape_of_unknown_rank_has_no_dimensions() -> None:
    assert (UNKNOWN.ndims, UNKNOWN.dims, UNKNOWN.num_elements()) == (None, None, None)
    with pytest.raises(ValueError, match=r"as_list\(\) is not defined on an unknown TensorShape"):
        UNKNOWN.as_list()
    with pytest.raises(ValueError, match="Cannot take the length of shape with unknown rank"):
        len(UNKNOWN)
    with pytest.raises(ValueError, match="Cannot iterate over a shape with unknown rank"):
        list(UNKNOWN)


def test_shapes_are_cut_like_lists() -> None:
    shape = TensorShape([1, 2, 3])
    assert shape[1:] == [2, 3]
    assert shape[-1] == 3
    assert shape[0].value == 1
    with pytest.raises(IndexError):
        shape[4]
    assert UNKNOWN[1].value is None
    assert UNKNOWN[1:3].as_list() == [None, None]
    assert UNKNOWN[1:].ndims is None


def test_shapes_are_joined() -> None:
    assert TensorShape([1]) + TensorShape([2]) == [1, 2]
    sizes = [2, None]
    assert (TensorShape([1]) + sizes).as_list() == [1, 2, None]
    assert (sizes + TensorShape([1])).as_list() == [2, None, 1]
    assert TensorShape([1]).concatenate(UNKNOWN).ndims is None


def test_shapes_are_merged() -> None:
    assert TensorShape([1, None]).merge_with([None, 4]) == [1, 4]
    assert UNKNOWN.merge_with([3]) == [3]
    with pytest.raises(ValueError, match=r"Shapes \(1,\) and \(1, 2\) are not compatible"):
        TensorShape([1]).merge_with([1, 2])
    assert TensorShape([2, 3]).most_specific_compatible_shape([2, 4]).as_list() == [2, None]
    assert TensorShape([2, 3]).most_specific_compatible_shape([2]).ndims is None


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda s: s.assert_is_compatible_with([3, 2]), "are incompatible"),
        (lambda s: TensorShape([1, None]).assert_is_fully_defined(), r"Shape \(1, \?\) is not fully defined"),
        (lambda s: s.with_rank(3), r"Shape \(1, 2\) must have rank 3"),
        (lambda s: s.assert_has_rank(1), r"Shape \(1, 2\) must have rank 1"),
        (lambda s: s.assert_same_rank([1]), r"Shapes \(1, 2\) and \(1,\) must have the same rank"),
        (lambda s: s.with_rank_at_least(3), r"Shape \(1, 2\) must have rank at least 3"),
        (lambda s: s.with_rank_at_most(1), r"Shape \(1, 2\) must have rank at most 1"),
    ],
)
def test_a_broken_expectation_is_told(check: Callable[[TensorShape], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check(TensorShape([1, 2]))


def test_expectations_that_hold() -> None:
    shape = TensorShape([1, 2])
    assert shape.with_rank(2) == shape
    assert shape.with_rank_at_least(2) is shape
    assert shape.with_rank_at_most(2) is shape
    assert UNKNOWN.with_rank(2).as_list() == [None, None]
    shape.assert_is_compatible_with([None, 2])
    shape.assert_is_fully_defined()
    shape.assert_has_rank(2)
    shape.assert_same_rank(UNKNOWN)


def test_shapes_are_compared_with_shapes_and_lists() -> None:
    assert TensorShape([1]) == TensorShape([1])
    assert TensorShape([1, 2]) == [1, 2]
    assert TensorShape([1, 2]) == (1, 2)
    assert TensorShape([1]) != [2]
    assert TensorShape([None]) == TensorShape([None])
    assert TensorShape([1]) != "a"
    assert hash(TensorShape([1, 2])) == hash(TensorShape([1, 2]))
    with pytest.raises(ValueError, match="The inequality of unknown TensorShapes is undefined"):
        _ = TensorShape(None) != TensorShape([1])


def test_a_tensor_learns_its_shape() -> None:
    tensor = tf.placeholder(tf.float32, [None, 3])
    tensor.set_shape([2, None])
    assert tensor.shape == [2, 3]
    with pytest.raises(ValueError, match=r"in both shapes must be equal, but are 3 and 4. Shapes are \[2,3\] and \[2,4\]."):
        tensor.set_shape([2, 4])
