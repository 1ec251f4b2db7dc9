"""Sessions: what `run` returns follows from what is fetched."""

from typing import Any, NamedTuple, assert_type

import numpy as np

import weft as tf


class Results(NamedTuple):
    """A structure of the program's own."""

    loss: tf.Tensor
    step: tf.Variable


x = tf.placeholder(tf.float32, [None, 3], name="x")
w = tf.get_variable("w", [3, 2], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
config = tf.ConfigProto(allow_soft_placement=True, gpu_options=tf.GPUOptions(allow_growth=True))
config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.OFF
config.device_filters.append("/job:ps")
del config.device_filters[:]
feed: tf.typing.FeedDict = {x: np.ones([4, 3], np.float32)}

with tf.Session(config=config) as sess:
    assert_type(sess, tf.Session)
    assert_type(sess.graph, tf.Graph)
    assert_type(sess.run([w.initializer, tf.local_variables_initializer()]), list[Any])
    _, value = sess.run([train_op, loss], feed_dict=feed)
    print(value.shape, float(value))
    assert_type(sess.run((loss, w), feed), tuple[Any, ...])
    assert_type(sess.run({"loss": loss}, {x: [[1.0, 2.0, 3.0]]}), dict[str, Any])
    assert_type(sess.run(loss, feed), Any)
    total: float = sess.run("Mean:0", feed_dict={"x:0": [[1, 2, 3]]})
    print(sess.run(Results(loss, w), feed).loss + total)
    print(sess.run(tf.constant(b"text")).decode())
    metadata = tf.RunMetadata()
    sess.run(loss, feed, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata)
    print(len(metadata.step_stats.dev_stats))
    step = sess.make_callable([train_op, loss], [x])
    print(step(np.ones([1, 3])))
    print(loss.eval(feed), w.eval(), tf.get_default_session().run(w))
    train_op.run(feed)
