"""Optimizers that wrap another one."""

import pytest

import weft as tf


@pytest.mark.parametrize("collections", [None, [tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.GLOBAL_STEP]])
def test_stale_gradients_are_dropped_whether_the_step_is_found_by_its_name_or_its_collection(collections):
    with tf.Graph().as_default():
        step = tf.get_variable("global_step", [], tf.int32, tf.zeros_initializer(), trainable=False, collections=collections)
        weight = tf.get_variable("weight", [], initializer=tf.constant_initializer(1.0))
        late = tf.placeholder(tf.int32, [])

        class Late(tf.train.GradientDescentOptimizer):
            def compute_gradients(self, *args, **kwargs):
                # Others train on while this replica computes.
                (pair,) = super().compute_gradients(*args, **kwargs)
                with tf.control_dependencies([step.assign_add(late)]):
                    return [(tf.identity(pair[0]), pair[1])]

        optimizer = tf.contrib.opt.DropStaleGradientOptimizer(Late(0.25), staleness=2)
        train = optimizer.minimize(weight * 1.0, global_step=step)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run(train, {late: 2}) == 0
            assert session.run([step, weight]) == [3, 0.75]
            assert session.run(train, {late: 3}) == 1
            assert session.run([step, weight]) == [6, 0.75]
