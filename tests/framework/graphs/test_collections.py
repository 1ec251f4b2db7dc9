"""Collections of a graph: copies, the lists themselves, and filters by scope."""

from __future__ import annotations

import pytest

import weft as tf


def test_a_collection_is_copied_unless_the_list_itself_is_asked_for() -> None:
    tf.add_to_collection("k", 1)
    tf.get_collection("k").append(2)
    assert tf.get_collection("k") == [1]
    tf.get_collection_ref("k").append(3)
    assert tf.get_collection("k") == [1, 3]


def test_asking_for_a_collection_does_not_make_it_but_asking_for_its_list_does(graph: tf.Graph) -> None:
    assert tf.get_collection("none") == []
    assert "none" not in graph.get_all_collection_keys()
    tf.get_collection_ref("some")
    assert "some" in graph.get_all_collection_keys()


def test_a_value_is_added_to_several_collections_once() -> None:
    tf.add_to_collections(["x", "y", "x"], "value")
    assert tf.get_collection("x") == tf.get_collection("y") == ["value"]
    tf.add_to_collections("xyz", 5)
    assert tf.get_collection("xyz") == [5]


def test_a_scope_filters_from_the_start_of_names() -> None:
    for name in ("aa/v", "aabb", "caa"):
        tf.add_to_collection("t", tf.constant(1.0, name=name))
    tf.add_to_collection("t", "has no name")

    def names(scope: str) -> list[str]:
        return [tensor.op.name for tensor in tf.get_collection("t", scope)]

    assert names("aa") == ["aa/v", "aabb"]
    assert names("aa/") == ["aa/v"]
    assert names(".*aa") == ["aa/v", "aabb", "caa"]


def test_a_collection_is_cleared(graph: tf.Graph) -> None:
    tf.add_to_collection("k", 1)
    graph.clear_collection("k")
    graph.clear_collection("never there")
    assert tf.get_collection("k") == []


def test_a_key_need_not_be_a_string_but_is_then_not_listed(graph: tf.Graph) -> None:
    tf.add_to_collection(("pair", 1), 3)
    assert tf.get_collection(("pair", 1)) == [3]
    assert ("pair", 1) not in graph.get_all_collection_keys()
    assert ("pair", 1) in graph.collections


def test_a_finalized_graph_has_final_collections(graph: tf.Graph) -> None:
    tf.add_to_collection("k", 1)
    graph.finalize()
    for change in (lambda: tf.add_to_collection("k", 2), lambda: graph.clear_collection("k")):
        with pytest.raises(RuntimeError, match=r"Graph is finalized and cannot be modified\."):
            change()
    assert tf.get_collection("k") == [1]
