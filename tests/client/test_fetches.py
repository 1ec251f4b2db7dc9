"""A fetch of any form becomes graph elements, and its values get the same form back."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.client.fetches import FetchPlan, as_result

Point = collections.namedtuple("Point", "x y")


class Names(list[Any]):
    """A list of the program's own."""


@pytest.fixture
def ab(graph: tf.Graph) -> tuple[tf.Tensor, tf.Tensor]:
    return tf.constant(1.0, name="a"), tf.constant([2, 3], name="b")


def rebuilt(graph: tf.Graph, fetches: Any) -> Any:
    """The structure with each tensor's name in place of its value."""
    plan = FetchPlan(graph, fetches)
    return plan.rebuild([tensor.name for tensor in plan.tensors])


def test_structures_come_back(graph: tf.Graph, ab: Any) -> None:
    a, b = ab
    for fetches, expected in [
        ("a:0", "a:0"), (b"b:0", "b:0"), ([], []), ((), ()), ({}, {}), ([a, [b, (a,)]], ["a:0", ["b:0", ("a:0",)]]),
        (Point(a, {"k": b}), Point("a:0", {"k": "b:0"})), (Names([a]), Names(["a:0"])), ({(1, 2): a}, {(1, 2): "a:0"}),
        (collections.OrderedDict([("z", a), ("a", b)]), collections.OrderedDict([("z", "a:0"), ("a", "b:0")])),
    ]:  # fmt: skip
        found = rebuilt(graph, fetches)
        assert found == expected
        assert type(found) is type(expected)
    made = rebuilt(graph, collections.defaultdict(list, k=a))
    assert (made["k"], made["missing"]) == ("a:0", [])


def test_a_tensor_is_fetched_once_however_often_it_is_asked_for(graph: tf.Graph, ab: Any) -> None:
    a, b = ab
    plan = FetchPlan(graph, [a, {"a": a, "b": b}, "a:0", a.op, "a", b.op, a.op])
    assert (plan.tensors, plan.targets) == ([a, b], [a.op, b.op])
    assert plan.rebuild([1, 2]) == [1, {"a": 1, "b": 2}, 1, None, None, None, None]


def test_variables_and_composite_tensors_are_fetched(graph: tf.Graph) -> None:
    sparse = tf.SparseTensor([[0, 1]], [3.0], [2, 2])
    assert rebuilt(graph, sparse) == tf.SparseTensorValue(
        "SparseTensor/indices:0", "SparseTensor/values:0", "SparseTensor/dense_shape:0"
    )
    slices = tf.IndexedSlices(tf.constant([1.0], name="v"), tf.constant([0], name="i"))
    assert rebuilt(graph, slices) == tf.IndexedSlicesValue("v:0", "i:0", None)
    assert rebuilt(graph, [tf.Variable(1.0, name="w")]) == ["w:0"]


@pytest.mark.parametrize("wrap", [lambda fetch: fetch, lambda fetch: [fetch], lambda fetch: {"k": Point(fetch, "a")}])
@pytest.mark.parametrize(
    ("fetch", "error", "message"),
    [
        (None, TypeError, r"Fetch argument None has invalid type <class 'NoneType'>"),
        (3, TypeError, r"has invalid type <class 'int'>, must be a string or Tensor\. \(Can not convert a int"),
        ({1}, TypeError, r"has invalid type <class 'set'>, must be a string or Tensor"),
        (tf.Graph(), TypeError, r"must be a string or Tensor\. \(Can not convert a Graph into a Tensor or Operation\.\)"),
        ("zz", ValueError, r"Fetch argument 'zz' cannot be interpreted as a Tensor\. \(\"The name 'zz' refers to an Operation"),
        ("b:7", ValueError, "exists but only has 1 outputs"),
        ("a:", ValueError, "looks a like a Tensor name, but is not a valid one"),
    ],
)
def test_what_cannot_be_fetched_is_told(
    graph: tf.Graph, ab: Any, wrap: Any, fetch: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        FetchPlan(graph, wrap(fetch))


def test_elements_of_other_graphs_and_unfetchable_ones_are_refused(graph: tf.Graph, ab: Any) -> None:
    with tf.Graph().as_default():
        other = tf.constant(1)
    with pytest.raises(ValueError, match="is not an element of this graph"):
        FetchPlan(graph, other)
    graph.prevent_fetching(ab[0].op)
    for fetch in (ab[0], ab[0].op):
        with pytest.raises(ValueError, match="has been marked as not fetchable"):
            FetchPlan(graph, fetch)


def test_results_are_the_programs_own() -> None:
    kept = np.array([1, 2])
    kept.flags.writeable = False
    given = as_result(kept)
    given[0] = 7
    assert kept.tolist() == [1, 2]
    mine = np.array([1, 2])
    assert as_result(mine) is mine
    assert isinstance(as_result(np.array(1.5, np.float32)), np.float32)
    assert as_result(np.array(b"x", object)) == b"x"


def test_an_empty_array_of_strings_is_false(graph: tf.Graph) -> None:
    """Programs wait for variables with `while session.run(tf.report_uninitialized_variables())`."""
    with tf.Session() as session:
        names = session.run(tf.constant([], tf.string))
        assert not names
        assert repr(names) == "array([], dtype=object)"
        assert not (names == names).any()
        assert (names == names).all()
        np.testing.assert_array_equal(names, [])
        assert session.run(tf.constant(["x"]))
