"""Variables: made, shared, updated, collected."""

from typing import assert_type

import numpy as np

import weft as tf

v = tf.Variable(np.zeros(3, np.float32), trainable=False, name="v", dtype=tf.float32)
assert_type(v, tf.Variable)
assert_type(v + 1.0, tf.Tensor)
assert_type(2.0 * v, tf.Tensor)
assert_type(-v, tf.Tensor)
assert_type(v[1:], tf.Tensor)
assert_type(v.assign([1.0, 2.0, 3.0]), tf.Tensor)
assert_type(v.shape, tf.TensorShape)
r = tf.Variable(lambda: tf.ones([2]), use_resource=True)
with tf.variable_scope("layer", reuse=tf.AUTO_REUSE) as scope:
    kernel = tf.get_variable("kernel", [3, 2], tf.float32, tf.truncated_normal_initializer(stddev=0.1))
    again = tf.get_variable("kernel", shape=(3, 2))
    bias = tf.get_variable("bias", initializer=tf.constant([0.0, 0.0]))
    by_class = tf.get_variable("by_class", [2], initializer=tf.zeros_initializer)
assert_type(kernel, tf.Variable)
assert_type(tf.trainable_variables(scope.name), list[tf.Variable])
names: list[str] = [each.op.name for each in tf.global_variables()]
y = tf.matmul(tf.expand_dims(v, 0), kernel) + bias
step = tf.train.get_or_create_global_step()
average = tf.train.ExponentialMovingAverage(0.99)
update = average.apply([kernel])
with tf.control_dependencies([update, tf.assign_add(step, 1)]):
    done = tf.no_op("done")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    sess.run(done)
    v.load([3.0, 2.0, 1.0], sess)
    print(sess.run([y, tf.assign(v, tf.zeros([3])), r, tf.is_variable_initialized(v)]))
    saver = tf.train.Saver([kernel, bias], max_to_keep=2)
    print(tf.train.Saver({"k": kernel}), saver, names)
