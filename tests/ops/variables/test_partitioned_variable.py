"""Partitioned variables: how they are cut, named, initialized, shared and put together."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.ops.variables.partition_info import PartitionInfo

FIXED_TWO = tf.fixed_size_partitioner(2)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def test_the_parts_know_their_place_in_the_whole():
    whole = tf.get_variable("p/v", [5, 2], partitioner=tf.fixed_size_partitioner(3))
    assert (whole.name, whole.shape.as_list(), len(whole)) == ("p/v", [5, 2], 3)
    assert [part.name for part in whole] == ["p/v/part_0:0", "p/v/part_1:0", "p/v/part_2:0"]
    infos = [part._get_save_slice_info() for part in whole]
    assert [info.spec for info in infos] == ["5 2 0,2:0,2", "5 2 2,2:0,2", "5 2 4,1:0,2"]
    assert {info.full_name for info in infos} == {"p/v"}


def test_the_slice_goes_through_the_proto():
    part = next(iter(tf.get_variable("v", [4], partitioner=FIXED_TWO)))
    copy = tf.Variable.from_proto(part.to_proto())
    assert copy._get_save_slice_info().spec == part._get_save_slice_info().spec


def test_as_a_tensor_it_is_the_parts_joined():
    whole = tf.get_variable("v", initializer=tf.constant(np.arange(5.0)), partitioner=FIXED_TWO)
    other = tf.get_variable("w", [2, 4], initializer=tf.ones_initializer, partitioner=tf.fixed_size_partitioner(2, axis=1))
    assert whole.as_tensor().name == "v:0"
    values = run([tf.identity(whole), other.as_tensor()])
    assert values[0].tolist() == [0, 1, 2, 3, 4]
    assert values[1].shape == (2, 4)


def test_initializers_see_the_part_that_they_make():
    seen = []

    def initializer(shape, dtype, partition_info):
        seen.append((shape, list(partition_info.full_shape), list(partition_info.var_offset)))
        return tf.zeros(shape, dtype)

    tf.get_variable("v", [3, 2], initializer=initializer, partitioner=FIXED_TWO)
    assert seen == [([2, 2], [3, 2], [0, 0]), ([1, 2], [3, 2], [2, 0])]


def test_the_identity_initializer_works_in_parts():
    whole = tf.get_variable("v", [3, 3], initializer=tf.initializers.identity(), partitioner=FIXED_TWO)
    assert np.array_equal(run(tf.identity(whole)), np.eye(3))


def test_scalars_are_not_cut():
    with tf.variable_scope("p", partitioner=FIXED_TWO):
        assert isinstance(tf.get_variable("v", []), tf.Variable)


def test_a_partitioned_variable_is_shared_with_and_without_a_partitioner():
    whole = tf.get_variable("v", [4], partitioner=FIXED_TWO)
    with tf.variable_scope("", reuse=True):
        assert tf.get_variable("v") is whole
        assert tf.get_variable("v", [4], partitioner=FIXED_TWO) is whole
        with pytest.raises(ValueError, match=r"specified partitions \[3\] and found partitions \[2\]"):
            tf.get_variable("v", [4], partitioner=tf.fixed_size_partitioner(3))
        with pytest.raises(ValueError, match=r"specified shape \(6,\) and found shape \(4,\)"):
            tf.get_variable("v", [6], partitioner=FIXED_TWO)


def test_names_are_either_partitioned_or_not():
    tf.get_variable("whole", [4])
    tf.get_variable("cut", [4], partitioner=FIXED_TWO)
    with pytest.raises(ValueError, match="A partitioner was provided, but an unpartitioned version of the variable"):
        tf.get_variable("whole", [4], partitioner=FIXED_TWO)
    with pytest.raises(ValueError, match="No partitioner was provided, but a partitioned version of the variable"):
        tf.get_variable("cut", [4])
    with pytest.raises(ValueError, match="Partitioned variable with name cut already exists"):
        tf.get_variable("cut", [4], partitioner=FIXED_TWO)
    with tf.variable_scope("", reuse=True), pytest.raises(ValueError, match="PartitionedVariable new does not exist"):
        tf.get_variable("new", [4], partitioner=FIXED_TWO)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([2], "does not match the Variable's rank"),
        ([2, 2], "Can only slice a variable along one dimension"),
        ([0, 1], "Partitioner returned zero partitions for some axes"),
        (2, "Partitioner must return a sequence, but saw: 2"),
    ],
)
def test_partitioners_must_say_something_sensible(parts, message):
    with pytest.raises(ValueError, match=message):
        tf.get_variable("v", [4, 4], partitioner=lambda shape, dtype: parts)


def test_partitioners_by_size():
    shape = tf.TensorShape([1024, 4])
    assert FIXED_TWO(shape=shape, dtype=tf.float32) == [2, 1]
    assert tf.fixed_size_partitioner(9, axis=1)(shape=shape, dtype=tf.float32) == [1, 4]
    with pytest.raises(IndexError, match=r"cuts along axis 3, which a variable of shape \(\d+, 4\) does not have"):
        tf.fixed_size_partitioner(2, axis=3)(shape=shape, dtype=tf.float32)
    assert tf.variable_axis_size_partitioner(4096)(shape=shape, dtype=tf.float32) == [4, 1]
    assert tf.variable_axis_size_partitioner(4096, max_shards=3)(shape=shape, dtype=tf.float32) == [3, 1]
    assert tf.variable_axis_size_partitioner(1)(shape=tf.TensorShape([3]), dtype=tf.float64) == [3]
    assert tf.min_max_variable_partitioner(8, min_slice_size=4096)(shape=shape, dtype=tf.float32) == [4, 1]
    assert tf.min_max_variable_partitioner(2, min_slice_size=4096)(shape=shape, dtype=tf.float32) == [2, 1]
    with pytest.raises(ValueError, match="must be positive"):
        tf.variable_axis_size_partitioner(0)


def test_assignment_goes_to_all_parts():
    whole = tf.get_variable("v", [3], initializer=tf.zeros_initializer, partitioner=FIXED_TWO)
    assert [part.tolist() for part in run(whole.assign(tf.constant([1.0, 2.0, 3.0])))] == [[1.0, 2.0], [3.0]]
    assert [part.tolist() for part in run(whole.assign_add([tf.ones([2]), tf.ones([1])]))] == [[1.0, 1.0], [1.0]]


def test_the_older_function_gives_a_list():
    names = [part.name for part in tf.create_partitioned_variables([4, 2], [2, 1], tf.zeros([4, 2]), name="old")]
    assert names == ["old/part_0:0", "old/part_1:0"]
    names = [part.name for part in tf.create_partitioned_variables([4], [2], tf.zeros_initializer)]
    assert names == ["PartitionedVariable/part_0:0", "PartitionedVariable/part_1:0"]


def test_a_place_in_the_whole_is_checked():
    info = PartitionInfo([4, 6], [0, 3])
    assert (info.single_slice_dim([4, 3]), info.single_offset([4, 3])) == (1, 3)
    assert PartitionInfo([4, 6], [0, 0]).single_slice_dim([4, 6]) is None
    with pytest.raises(ValueError, match="would exceed"):
        info.single_slice_dim([4, 6])
    with pytest.raises(ValueError, match="could be either dimension 0 or 1"):
        info.single_slice_dim([2, 1])
    with pytest.raises(ValueError, match="Expected 0 <= offset < shape"):
        PartitionInfo([4], [4])
