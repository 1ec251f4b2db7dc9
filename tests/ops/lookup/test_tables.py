"""Lookup tables: shared on servers, with what two programs may disagree about."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from weft.contrib import lookup

import weft as tf
from weft.ops.lookup import nodes as lookup_nodes


def test_a_mutable_table_is_shared_by_the_sessions_of_a_server() -> None:
    with tf.train.Server.create_local_server() as server:
        for number in range(2):
            with tf.Graph().as_default(), tf.Session(server.target) as session:
                table = lookup.MutableHashTable(tf.string, tf.int64, -1, shared_name="words")
                if number == 0:
                    session.run(table.insert(["a"], [7]))
                assert session.run(table.lookup(["a", "b"])).tolist() == [7, -1]


def test_two_programs_that_disagree_about_a_table_are_told_so() -> None:
    with tf.train.Server.create_local_server() as server:
        with tf.Graph().as_default(), tf.Session(server.target) as session:
            session.run(lookup.MutableHashTable(tf.string, tf.int64, -1, shared_name="words").size())
        with tf.Graph().as_default(), tf.Session(server.target) as session:
            other = lookup.MutableHashTable(tf.int64, tf.int64, -1, shared_name="words").size()
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"Table 'words' is held as .* two programs disagree"):
                session.run(other)


def test_a_table_on_another_device_is_read_from_here() -> None:
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        with tf.device("/cpu:1"):
            table = lookup.index_table_from_tensor(["a", "b"])
        with tf.device("/cpu:0"):
            found = table.lookup(tf.constant(["b", "?"]))
        session.run(tf.tables_initializer())
        assert session.run(found).tolist() == [1, -1]


def test_the_default_may_be_given_for_each_key() -> None:
    table = lookup.MutableHashTable(tf.int64, tf.int64, -1)
    keys = tf.constant([1, 2], tf.int64)
    with tf.Session() as session:
        session.run(table.insert([1], [10]))
        assert session.run(table.lookup(keys, dynamic_default_values=np.array([8, 9]))).tolist() == [10, 9]
        with pytest.raises(tf.errors.InvalidArgumentError, match="expected a default value of shape"):
            session.run(table.lookup(keys, dynamic_default_values=np.array([8, 9, 7])))


def test_values_need_the_shape_of_their_keys() -> None:
    table = lookup.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected shape \[1,2\] for value, got \[2\]"),
    ):
        session.run(table.insert([1], [1.0, 2.0]))


def test_a_table_has_as_many_values_as_keys() -> None:
    with tf.Graph().as_default():
        pairs = tf.contrib.lookup.KeyValueTensorInitializer(["a", "b"], [1])
        with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal, but are 2 and 1"):
            tf.contrib.lookup.HashTable(pairs, -1)


def test_a_static_table_cannot_be_changed() -> None:
    table = lookup.HashTable(lookup.KeyValueTensorInitializer(["a"], [1]), -1)
    with tf.Session() as session:
        table.init.run(session=session)
        with pytest.raises(tf.errors.InvalidArgumentError, match="use a MutableHashTable"):
            session.run(lookup_nodes.lookup_table_insert_v2(table.resource_handle, ["b"], [2]))


def test_what_is_wrong_with_a_hash_is_said_when_the_table_is_made() -> None:
    with pytest.raises(ValueError, match="`key` must have size 2"):
        lookup.StrongHashSpec((1, 2, 3))
    with pytest.raises(TypeError, match="Invalid key"):
        lookup.StrongHashSpec(("a", 1))
    with pytest.raises(TypeError, match="`hasher_spec` must be of type HasherSpec"):
        lookup.index_table_from_tensor(["a"], 1, hasher_spec="fast")


def test_strings_become_indices_and_indices_strings_in_one_call() -> None:
    indices = lookup.string_to_index(tf.constant(["b", "?"]), ["a", "b"])
    strings = lookup.index_to_string(tf.constant([1, 5], tf.int64), ["a", "b"])
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        assert session.run(indices).tolist() == [1, -1]
        assert session.run(strings).tolist() == [b"b", b"UNK"]


def test_rows_of_a_file_may_end_in_any_way(tmp_path: Path) -> None:
    path = tmp_path / "words"
    path.write_bytes(b"a\r\nb\nlast")
    table = lookup.index_table_from_file(str(path))
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        assert session.run(table.lookup(["a", "b", "last"])).tolist() == [0, 1, 2]


def test_values_in_bodies_and_in_functions_of_datasets_have_the_shape_of_their_keys() -> None:
    with tf.Graph().as_default():
        table = tf.contrib.lookup.HashTable(tf.contrib.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
        lines = tf.data.Dataset.from_tensor_slices(["a b", "b"])
        numbers = lines.map(lambda line: table.lookup(tf.string_split([line]).values))
        assert numbers.output_shapes.as_list() == [None]
        batch = numbers.padded_batch(2, numbers.output_shapes).make_initializable_iterator()
        words = tf.placeholder(tf.string, [3])
        either = tf.cond(tf.constant(True), lambda: table.lookup(words), lambda: tf.zeros([3], tf.int32))
        assert either.shape.as_list() == [3]
        rows = batch.get_next()
        with tf.Session() as session:
            session.run([tf.tables_initializer(), batch.initializer])
            assert session.run(rows).tolist() == [[1, 2], [2, 0]]
            assert session.run(either, {words: ["b", "c", "a"]}).tolist() == [2, -1, 1]


def test_a_static_table_needs_keys() -> None:
    table = lookup.index_table_from_tensor(np.array([], np.str_))
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="keys and values cannot be empty tensors"):
        sess.run(tf.tables_initializer())
    assert table.name


def test_a_file_whose_name_only_a_run_tells_is_no_asset_of_the_graph() -> None:
    lookup.index_table_from_file(tf.placeholder(tf.string, []))
    assert tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS) == []
    lookup.index_table_from_file(tf.constant("words"))
    assert [each.name for each in tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)] == ["Const:0"]


def test_a_file_without_lines_is_named(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("")
    lookup.index_table_from_file(str(path), num_oov_buckets=1)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=r"words\.txt: a table needs a line"):
        session.run(tf.tables_initializer())


def test_an_empty_line_of_a_vocabulary_is_refused_where_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes(b"a\r\n\r\nb\n")
    whole = lookup.index_table_from_file(str(path))
    first = lookup.index_table_from_file(str(path), vocab_size=1, name="first")
    found = first.lookup(tf.constant(["a", "b"]))
    with tf.Session() as session:
        session.run(first.initializer)
        assert session.run(found).tolist() == [0, -1]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"words\.txt: empty line found at position 5\. It is line 2"):
            session.run(whole.initializer)


def test_keys_of_a_dense_table_may_be_vectors(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        empty, deleted = tf.constant([0, 0], tf.int64), tf.constant([1, 1], tf.int64)
        table = lookup.MutableDenseHashTable(tf.int64, tf.float32, [0.0, -1.0], empty_key=empty, deleted_key=deleted)
        session.run(table.insert([[3, 4], [5, 6]], [[1.0, 2.0], [3.0, 4.0]]))
        found = table.lookup(tf.constant([[5, 6], [7, 7]], tf.int64))
        assert found.shape.as_list() == [2, 2]
        assert session.run(found).tolist() == [[3, 4], [0, -1]]
        saver = tf.train.Saver()
        path = saver.save(session, str(tmp_path / "model"))
        session.run(table.remove([[5, 6]]))
        assert session.run(table.export())[0].tolist() == [[3, 4]]
        saver.restore(session, path)
        assert session.run(table.size()) == 2
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[1,3\] must end with the table's key shape \[2\]"):
            session.run(table.lookup(tf.constant([[5, 6, 7]], tf.int64)))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Using the empty_key as a table key is not allowed"):
            session.run(table.insert([[0, 0]], [[1.0, 1.0]]))
