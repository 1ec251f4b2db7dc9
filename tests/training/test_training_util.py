"""The global step: found by collection or by name, checked, made once."""

import pytest

import weft as tf
from weft.training import training_util
from weft.training.training_util import counting_step


def test_it_is_an_int64_variable_that_is_not_trained():
    step = tf.train.create_global_step()
    assert step.name == "global_step:0"
    assert step.dtype.base_dtype == tf.int64
    assert tf.get_default_graph().get_collection(tf.GraphKeys.GLOBAL_STEP) == [step]
    assert tf.trainable_variables() == []
    assert tf.global_variables() == [step]


def test_it_is_made_outside_of_name_scopes():
    with tf.get_default_graph().name_scope("inner"):
        assert tf.train.get_or_create_global_step().name == "global_step:0"


def test_there_is_one():
    step = tf.train.get_or_create_global_step()
    assert tf.train.get_or_create_global_step() is step
    assert tf.train.get_global_step() is step
    with pytest.raises(ValueError, match='"global_step" already exists'):
        tf.train.create_global_step()


def test_another_graph_may_be_given():
    graph = tf.Graph()
    assert tf.train.create_global_step(graph).graph is graph
    assert tf.train.get_global_step() is None
    assert tf.train.get_global_step(graph) is not None


def test_a_variable_of_that_name_is_the_global_step():
    tf.Variable(3, name="global_step")
    found = tf.train.get_global_step()
    assert isinstance(found, tf.Tensor)
    assert found.name == "global_step:0"


def test_without_one_there_is_none():
    assert tf.train.get_global_step() is None


def test_several_in_the_collection_are_none():
    for name in ("a", "b"):
        tf.add_to_collection(tf.GraphKeys.GLOBAL_STEP, tf.Variable(1, name=name))
    assert tf.train.get_global_step() is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.Variable(1.0), 'Existing "global_step" does not have integer type: <dtype:'),
        (lambda: tf.Variable([1]), r'Existing "global_step" is not scalar: \(1,\)'),
        (lambda: 3, r'Existing "global_step" must be a Variable or Tensor: 3\.'),
    ],
)
def test_what_cannot_count_is_refused(make, message):
    with pytest.raises(TypeError, match=message):
        tf.train.assert_global_step(make())


def test_a_step_of_unknown_shape_is_accepted():
    tf.train.assert_global_step(tf.placeholder(tf.int32, [None]))


def test_global_step_gives_its_value():
    step = tf.Variable(10, name="steps")
    with tf.Session() as session:
        session.run(step.initializer)
        assert tf.train.global_step(session, step) == 10
        assert tf.train.global_step(session, "steps:0") == 10


def test_contrib_has_it_too():
    step = tf.contrib.framework.get_or_create_global_step()
    assert step is tf.train.get_global_step()
    assert tf.contrib.framework.get_global_step() is step


def test_an_operation_adds_to_it():
    with pytest.raises(ValueError, match="should be created by"):
        training_util.increment_global_step(1)
    step = tf.train.get_or_create_global_step()
    with tf.name_scope("somewhere"):
        added = training_util.increment_global_step(3)
    assert added.op.name == "global_step/AssignAdd"
    with tf.Graph().as_default() as graph:
        with tf.variable_scope("a"):
            tf.train.create_global_step()
        assert training_util.increment_global_step(1, graph).op.name == "a/global_step/AssignAdd"
    with tf.Session() as session:
        session.run(step.initializer)
        session.run(added)
        assert session.run(step) == 3


def test_a_step_in_floats_counts_for_weft_and_is_refused_where_tensorflow_refuses_it():
    step = tf.get_variable("global_step", [], initializer=tf.constant_initializer(0))
    assert counting_step(tf.get_default_graph()) is tf.get_default_graph().get_tensor_by_name("global_step:0")
    with pytest.raises(TypeError, match="does not have integer type"):
        tf.train.get_global_step()
    tf.add_to_collection(tf.GraphKeys.GLOBAL_STEP, step)
    assert counting_step(tf.get_default_graph()) is step


@pytest.mark.parametrize("initial", ["text", [0, 0], True], ids=["text", "several", "bool"])
def test_what_is_no_number_does_not_count(initial):
    tf.constant(initial, name="global_step")
    assert counting_step(tf.get_default_graph()) is None


def test_the_step_is_read_by_one_tensor():
    assert training_util._get_or_create_global_step_read() is None
    tf.train.get_or_create_global_step()
    with tf.name_scope("part"):
        read = training_util._get_or_create_global_step_read()
    assert read.op.name.startswith("global_step/")
    assert training_util._get_or_create_global_step_read(tf.get_default_graph()) is read
    with tf.train.MonitoredSession() as session:
        assert session.run(read) == 0
