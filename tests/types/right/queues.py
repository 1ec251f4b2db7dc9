"""Queues, input threads, a coordinator."""

import threading
from typing import Any, assert_type

import weft as tf

queue = tf.FIFOQueue(10, tf.int32, shapes=[[]], name="numbers")
pair = tf.RandomShuffleQueue(10, 2, [tf.float32, tf.string], [[2], []], shared_name="pair")
padded = tf.PaddingFIFOQueue(capacity=3, dtypes=[tf.int32], shapes=[[None]])
enqueue = queue.enqueue_many([[1, 2, 3]])
assert_type(enqueue, tf.Operation)
assert_type(queue.size(), tf.Tensor)
item = queue.dequeue()
runner = tf.train.QueueRunner(queue, [queue.enqueue(4)] * 2)
tf.train.add_queue_runner(runner)
batch = tf.train.batch([item], batch_size=2, num_threads=1, capacity=8)
coord = tf.train.Coordinator()
with tf.Session() as sess:
    threads = tf.train.start_queue_runners(sess=sess, coord=coord)
    assert_type(threads, list[threading.Thread])
    value: Any = sess.run(batch)
    print(value)
    coord.request_stop()
    sess.run(queue.close(cancel_pending_enqueues=True))
    coord.join(threads, stop_grace_period_secs=10)
