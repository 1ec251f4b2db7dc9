"""Iterators on the tasks of a cluster, and strings that name them."""

import gc
import threading

import pytest

import weft as tf
from weft.ops.sparse.serialization import deserialize_sparse

DS = tf.data.Dataset


@pytest.fixture(scope="module")
def servers():
    workers, _ = tf.test.create_local_cluster(2, 0, protocol="grpc")
    yield workers
    for server in workers:
        server.stop()


def test_an_iterator_lives_on_its_task_and_its_name_serves_other_sessions(servers):
    with tf.Graph().as_default():
        with tf.device("/job:worker/task:1"):
            table = tf.contrib.lookup.index_table_from_tensor(["a", "b", "c"])
            dataset = DS.from_tensor_slices(["a", "c", "b", "a"]).map(lambda text: table.lookup(text)).repeat().batch(3)
            iterator = dataset.make_initializable_iterator(shared_name="training")
            named = iterator.string_handle()
        handle = tf.placeholder(tf.string, [])
        with tf.device("/job:worker/task:1"):
            following = tf.data.Iterator.from_string_handle(handle, dataset.output_types, dataset.output_shapes).get_next()
        with tf.device("/job:worker/task:0"):
            elsewhere = tf.data.Iterator.from_string_handle(handle, dataset.output_types, dataset.output_shapes).get_next()
        with tf.Session(servers[0].target) as session:
            session.run(tf.tables_initializer())
            session.run(iterator.initializer)
            name = session.run(named)
            assert session.run(following, {handle: name}).tolist() == [0, 2, 1]
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"Attempted create an iterator on device .*task:0"):
                session.run(elsewhere, {handle: name})
        # The iterator is the task's, whichever master asks.
        with tf.Session(servers[1].target) as session:
            assert session.run(following, {handle: name}).tolist() == [0, 0, 2]


def test_a_one_shot_iterator_of_another_task_gets_its_functions_there(servers):
    with tf.Graph().as_default():
        with tf.device("/job:worker/task:1"):
            dataset = DS.range(4).flat_map(lambda n: DS.range(n).map(lambda x: x * 10, num_parallel_calls=2)).prefetch(1)
            following = dataset.make_one_shot_iterator().get_next()
        with tf.Session(servers[0].target) as session:
            assert [session.run(following) for _ in range(6)] == [0, 0, 10, 0, 10, 20]
            with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
                session.run(following)


def test_a_function_reads_a_variable_of_its_task_when_it_runs(servers):
    with tf.Graph().as_default():
        with tf.device("/job:worker/task:1"):
            variable = tf.get_variable("of_a_function", initializer=1, use_resource=True)
            iterator = DS.range(3).map(lambda x: tf.cast(x, tf.int32) + variable).make_initializable_iterator()
            following = iterator.get_next()
        with tf.Session(servers[0].target) as session:
            session.run(variable.initializer)
            session.run(iterator.initializer)
            assert session.run(following) == 1
            session.run(variable.assign(10))
            assert session.run(following) == 11


def test_a_stopped_server_ends_the_threads_of_its_iterators():
    def prefetching():
        return {thread for thread in threading.enumerate() if thread.name == "weft-prefetch"}

    before = prefetching()
    with tf.Graph().as_default(), tf.train.Server.create_local_server() as server:
        following = DS.range(9).prefetch(1).make_one_shot_iterator().get_next()
        with tf.Session(server.target) as session:
            assert session.run(following) == 0
        (thread,) = prefetching() - before
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()


def test_sparse_elements_come_from_another_task_and_are_put_together_here(servers):
    with tf.Graph().as_default():
        with tf.device("/job:worker/task:1"):
            rows = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], ["a", "b", "c"], [2, 3])
            iterator = DS.from_tensors(rows).make_initializable_iterator(shared_name="sparse")
            parts = iterator.get_next().values.op.inputs[0]
        with tf.device("/job:worker/task:0"):
            here = deserialize_sparse(tf.identity(parts), tf.string)
        with tf.Session(servers[0].target) as session:
            session.run(iterator.initializer)
            indices, values, shape = session.run(here)
    assert indices.tolist() == [[0, 0], [0, 2], [1, 1]]
    assert values.tolist() == [b"a", b"b", b"c"]
    assert shape.tolist() == [2, 3]
