"""How a graph looks in a notebook: a row for each scope."""

from __future__ import annotations

import weft as tf


def _rows(graph: tf.Graph) -> list[list[str]]:
    rows = graph._repr_html_().split("<tr>")[2:]
    return [[cell.partition("</td>")[0] for cell in row.split("<td>")[1:]] for row in rows]


def test_a_row_tells_the_nodes_the_variables_and_the_devices_of_a_scope() -> None:
    with tf.Graph().as_default() as graph:
        tf.constant(1.0)
        with tf.device("/job:ps/task:0"), tf.variable_scope("dense"):
            tf.get_variable("kernel", [3, 4])
    top, dense = _rows(graph)
    assert top == ["(top)", "1", "", ""]
    assert dense[0] == "dense"
    assert dense[2:] == ["dense/kernel [3,4]", "/job:ps/task:0"]
    assert int(dense[1]) + 1 == len(graph.get_operations())


def test_a_picture_of_a_large_graph_stays_small() -> None:
    with tf.Graph().as_default() as graph:
        for number in range(40):
            with tf.variable_scope(f"layer_{number}"):
                tf.get_variable("w", [1])
    rows = _rows(graph)
    assert rows[-1] == ["... and 10 more scopes"]
