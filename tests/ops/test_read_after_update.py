"""Reads of ref variables under control dependencies: whoever waits for an update sees it."""

from __future__ import annotations

import weft as tf


def test_identity_and_arithmetic_after_an_update_see_the_new_value():
    variable = tf.Variable(1.0)
    update = variable.assign_add(1.0)
    with tf.control_dependencies([update]):
        reads = [tf.identity(variable), variable + 0.0, variable.read_value(), variable.value(), tf.stack([variable, 0.0])[0]]
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(reads) == [2.0] * 5


def test_reads_follow_a_chain_of_updates():
    variable = tf.Variable(1.0)
    with tf.control_dependencies([tf.assign(variable, 10.0)]), tf.control_dependencies([tf.assign_add(variable, 5.0)]):
        last = tf.identity(variable)
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(last) == 15.0


def test_a_copy_to_another_variable_after_an_update_takes_the_new_value():
    source, target = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])
    with tf.control_dependencies([tf.scatter_update(source, [1], [7.0])]):
        pull = target.assign(source)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(pull).tolist() == [1.0, 7.0]


def test_moving_averages_applied_after_a_training_step_use_its_values():
    variable = tf.Variable(4.0)
    step = tf.train.GradientDescentOptimizer(0.5).minimize(2.0 * variable)
    averages = tf.train.ExponentialMovingAverage(0.5)
    with tf.control_dependencies([step]):
        update = averages.apply([variable])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update)
        assert session.run(averages.average(variable)) == 3.5


def test_a_branch_whose_cond_waits_for_an_update_reads_the_new_value():
    variable = tf.Variable(2.0)
    with tf.control_dependencies([variable.assign(5.0)]):
        read = tf.cond(tf.constant(True), lambda: variable + 0.0, lambda: variable - 1.0)
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(read) == 5.0


def test_a_read_in_a_branch_sees_the_update_in_the_branch_that_it_waits_for():
    counter = tf.Variable(0)

    def counted():
        with tf.control_dependencies([tf.assign_add(counter, 1)]):
            return counter + 0

    chosen = tf.placeholder_with_default(True, [])
    plain = tf.cond(chosen, counted, lambda: counter)
    nested = tf.cond(chosen, lambda: tf.cond(chosen, counted, lambda: counter), lambda: counter)
    with tf.Session() as session:
        session.run(counter.initializer)
        assert [session.run(plain) for _ in range(3)] == [1, 2, 3]
        assert [session.run(nested) for _ in range(2)] == [4, 5]


def test_gradients_pass_through_reads_that_wait():
    variable = tf.Variable(2.0)
    with tf.control_dependencies([variable.assign(5.0)]):
        loss = variable * variable
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(tf.gradients(loss, variable)) == [10.0]


def test_a_variable_without_updates_is_read_by_its_one_node():
    variable = tf.Variable(2.0, name="v")
    with tf.control_dependencies([tf.no_op()]):
        assert tf.convert_to_tensor(variable).name == "v/read:0"
        assert variable.value().name == "v/read:0"


def test_later_seeds_do_not_count_the_reads_that_wait():
    tf.set_random_seed(3)
    variable = tf.Variable(1.0, name="v")
    update = variable.assign_add(1.0)
    with tf.control_dependencies([update]):
        twice = variable * 2.0
        drawn = tf.random_uniform([])
    assert twice.op.inputs[0].op.control_inputs == [update.op]
    source = drawn.op.inputs[0].op.inputs[0].op
    assert (source.type, source.get_attr("seed2")) == ("RandomUniform", 11)  # as in TensorFlow 1.15
