"""Iterators that go on where a checkpoint says."""

import numpy as np
import pytest

import weft as tf

DS = tf.data.Dataset
more = tf.data.experimental


def _drained(session, following, count=100):
    found = []
    try:
        for _ in range(count):
            found.append(np.asarray(session.run(following)).tolist())
    except tf.errors.OutOfRangeError:
        pass
    return found


def _twice(text):
    return DS.from_tensor_slices([text, text + "x"])


def _one_in_a_row(size):
    return tf.SparseTensor([[size - 1]], [size], [size])


def _not_seven(x):
    return tf.check_numerics(tf.where(tf.equal(x, 7), np.float32(np.nan), tf.cast(x, tf.float32)), "seven")


@pytest.mark.parametrize(
    "make",
    [
        lambda: DS.range(10).shuffle(4, seed=1).repeat(3).batch(4),
        lambda: DS.from_tensor_slices(np.arange(20).reshape(10, 2)).shuffle(4, seed=1).repeat(3).batch(4),
        lambda: DS.range(10).map(lambda x: x * x, num_parallel_calls=3).prefetch(2).repeat(2),
        lambda: DS.range(6).flat_map(lambda x: DS.range(x)).batch(2),
        lambda: DS.range(1, 6).interleave(lambda x: DS.from_tensors(x).repeat(x), cycle_length=3, block_length=2),
        lambda: DS.range(1, 6).apply(more.parallel_interleave(lambda x: DS.from_tensors(x).repeat(x), 3)),
        lambda: DS.range(10).apply(more.group_by_window(lambda x: x % 3, lambda key, group: group.batch(2), 2)),
        lambda: DS.range(5).map(lambda x: x + 1).cache().repeat(3),
        lambda: DS.from_generator(lambda: iter(range(8)), tf.int32, []),
        lambda: DS.zip((DS.range(8), DS.range(5).repeat())),
        lambda: DS.range(9).map(lambda x: tf.fill([x], tf.as_string(x))).padded_batch(2, [None]),
        lambda: DS.range(9).apply(more.scan(np.int64(0), lambda total, x: (total + x, total))),
        lambda: DS.range(9).window(3, 2).flat_map(lambda window: window.batch(3)),
        # The seventh element fails, and no window has it.
        lambda: DS.range(14).map(_not_seven).window(2, 2, 4).flat_map(lambda window: window.batch(2)),
        lambda: DS.range(9).batch(4).unbatch(),
        lambda: more.sample_from_datasets([DS.range(9), DS.range(100, 109)], seed=1),
        lambda: DS.from_tensor_slices(["a", "b"]).flat_map(_twice).shuffle(3, seed=1).repeat(4).batch(3),
        lambda: DS.range(1, 9).map(_one_in_a_row).shuffle(4, seed=1).map(lambda row: tf.sparse.to_dense(row)[-1]),
    ],
)
def test_a_restored_iterator_goes_on_behind_the_element_that_came_last(make, tmp_path):
    with tf.Graph().as_default():
        iterator = make().make_initializable_iterator()
        following = iterator.get_next()
        saver = tf.train.Saver([more.make_saveable_from_iterator(iterator)])
        with tf.Session() as session:
            session.run(iterator.initializer)
            assert len(_drained(session, following, 3)) == 3
            path = saver.save(session, str(tmp_path / "model"))
            rest = _drained(session, following)
        with tf.Session() as session:
            session.run(iterator.initializer)
            saver.restore(session, path)
            assert _drained(session, following) == rest
            assert rest


def test_records_of_files_go_on_in_the_file_where_they_were(tmp_path):
    for name in ("a", "b"):
        with tf.python_io.TFRecordWriter(str(tmp_path / name)) as writer:
            for number in range(3):
                writer.write(f"{name}{number}".encode())
    with tf.Graph().as_default():
        dataset = tf.data.TFRecordDataset([str(tmp_path / "a"), str(tmp_path / "b")])
        iterator = dataset.make_initializable_iterator()
        following = iterator.get_next()
        tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, more.make_saveable_from_iterator(iterator))
        step = tf.get_variable("step", initializer=7)
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run([iterator.initializer, step.initializer])
            assert _drained(session, following, 4) == [b"a0", b"a1", b"a2", b"b0"]
            path = saver.save(session, str(tmp_path / "model"))
        with tf.Session() as session:
            session.run(iterator.initializer)
            saver.restore(session, path)
            assert session.run(step) == 7
            assert _drained(session, following) == [b"b1", b"b2"]


def test_an_iterator_without_a_dataset_cannot_be_saved(tmp_path):
    with tf.Graph().as_default():
        iterator = DS.range(3).make_initializable_iterator()
        saver = tf.train.Saver([more.make_saveable_from_iterator(iterator)])
        with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="has not been initialized"):
            saver.save(session, str(tmp_path / "model"))


def test_the_nodes_of_a_saved_iterator_have_the_types_that_tensorflows_graphs_have(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.train.Saver([more.make_saveable_from_iterator(DS.range(3).make_initializable_iterator())])
        assert graph.get_operation_by_name("SerializeIterator").outputs[0].dtype == tf.variant
        (restored,) = (each for each in graph.get_operations() if each.type == "RestoreV2")
        assert restored.get_attr("dtypes") == [tf.variant]


def test_a_variant_that_is_no_iterators_state_cannot_be_saved(tmp_path):
    with tf.Graph().as_default():
        dataset = tf.data.experimental.to_variant(DS.range(3))
        save = tf.raw_ops.SaveV2(
            prefix=str(tmp_path / "model"), tensor_names=["data"], shape_and_slices=[""], tensors=[dataset]
        )
        with (
            tf.Session() as session,
            pytest.raises(tf.errors.InvalidArgumentError, match="'data' is a variant that a checkpoint"),
        ):
            session.run(save)
