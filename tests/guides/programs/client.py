"""Guide 4's first script as a client of two tasks: `client.py ADDRESS`."""

import sys

import weft as tf

x = tf.constant(2)

with tf.device("/job:local/task:1"):
    y2 = x - 66

with tf.device("/job:local/task:0"):
    y1 = x + 300
    y = y1 + y2


with tf.Session("grpc://" + sys.argv[1]) as sess:
    result = sess.run(y)
    print(result)
