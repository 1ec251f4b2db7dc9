"""Layers, losses, operators and functions of tensors."""

from typing import assert_type

import numpy as np

import weft as tf

images = tf.placeholder(tf.float32, shape=(None, 28, 28, 1))
labels = tf.placeholder(tf.int64, [None])
training = tf.placeholder_with_default(False, [])
net = tf.layers.conv2d(images, 4, [5, 5], padding="same", activation=tf.nn.relu)
net = tf.layers.max_pooling2d(net, 2, strides=2)
net = tf.layers.batch_normalization(tf.layers.flatten(net), training=training)
net = tf.layers.dropout(net, rate=0.4, training=training)
net = tf.layers.dense(net, 16, tf.nn.tanh, kernel_regularizer=tf.contrib.layers.l2_regularizer(1e-4), name="hidden")
logits = tf.layers.dense(net, 10, kernel_initializer=tf.glorot_uniform_initializer())
assert_type(logits, tf.Tensor)
loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
entropy = tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.one_hot(labels, 10), logits=logits)
error = tf.losses.mean_squared_error(labels, tf.argmax(logits, 1))
assert_type(loss + tf.losses.get_total_loss(), tf.Tensor)
correct = tf.cast(tf.equal(tf.argmax(logits, axis=1), labels), tf.float32)
accuracy, update = tf.metrics.accuracy(labels, tf.argmax(logits, 1))
first, second = tf.split(logits, 2, axis=1)
values, indices = tf.nn.top_k(logits, k=3)
mean, variance = tf.nn.moments(net, [0])
parts: list[tf.Tensor] = tf.unstack(tf.zeros([3, 2]))
mixed = tf.where(first > 0, first, tf.zeros_like(first)) @ tf.transpose(second)
normal = tf.random_normal([3, 2], stddev=0.1, seed=1) ** 2 % 3
joined = tf.concat([normal, tf.ones([3, 2])], 1, name="joined")
stacked = tf.stack(parts) if parts else joined
chosen = tf.cond(tf.reduce_any(first > 0), lambda: joined, lambda: stacked)
nodes = tf.nn.relu(joined, name="nodes") + tf.nn.relu(features=joined) + tf.add(joined, 1.0, "sum")
clipped = tf.clip_by_value(tf.exp(joined), 0.0, 1.0) * np.float32(2)
image = tf.image.resize_images(images, [14, 14])
text = tf.strings.join(["a", tf.as_string(labels)])
weights = tf.contrib.layers.fully_connected(net, 3, activation_fn=None)
tf.summary.scalar("loss", loss)
tf.summary.histogram("net", net)
merged = tf.summary.merge_all()
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    print(sess.run([loss, entropy, correct], {images: np.zeros([2, 28, 28, 1]), labels: [1, 2]})[0])
