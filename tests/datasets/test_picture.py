"""How Datasets and their iterators look in a shell and in a notebook."""

from __future__ import annotations

import weft as tf


def test_a_dataset_is_printed_with_its_elements_as_tensorflow_does() -> None:
    assert repr(tf.data.Dataset.range(4).batch(2)) == "<DatasetV1Adapter shapes: (?,), types: tf.int64>"
    by_name = tf.data.Dataset.from_tensor_slices({"x": [1.0], "y": [2]})
    assert repr(by_name) == "<DatasetV1Adapter shapes: {x: (), y: ()}, types: {x: tf.float32, y: tf.int32}>"


def test_a_notebook_shows_the_stages_of_a_dataset_with_the_elements_of_each() -> None:
    numbers = tf.data.Dataset.range(4).map(lambda x: tf.cast(x, tf.float32)).batch(2)
    rows = numbers._repr_html_().split("<tr>")[2:]
    assert [row.split("<td>")[1].partition("<")[0] for row in rows] == ["Batch", "Map", "Range"]
    assert [row.split("<td>")[2].partition("<")[0] for row in rows] == ["float32 [?]", "float32 []", "int64 []"]


def test_stages_that_one_joins_stand_farther_in() -> None:
    joined = tf.data.Dataset.zip((tf.data.Dataset.range(2), tf.data.Dataset.range(3)))
    rows = joined._repr_html_().split("<tr>")[2:]
    assert [row.count("&nbsp;") for row in rows] == [0, 4, 4]


def test_an_iterator_is_printed_with_its_name_and_its_elements() -> None:
    iterator = tf.data.Dataset.range(4).make_initializable_iterator()
    assert repr(iterator) == f"<tf.data.Iterator {iterator.resource.op.name!r} shapes: (), types: tf.int64>"


def test_an_iterator_is_made_anew_from_the_names_of_its_graph_as_programs_do() -> None:
    iterator = tf.data.Dataset.range(4).make_initializable_iterator()
    handle = tf.get_default_graph().get_tensor_by_name(iterator._iterator_resource.name)
    again = tf.data.Iterator(handle, None, iterator.output_types, iterator.output_shapes, iterator.output_classes)
    with tf.Session() as session:
        session.run(iterator.initializer)
        assert [session.run(again.get_next()) for _ in range(2)] == [0, 1]
