"""Recurrent networks, loops, embeddings, tensor arrays."""

from typing import assert_type

import numpy as np

import weft as tf

words = tf.placeholder(tf.int32, [None, 7])
lengths = tf.placeholder(tf.int32, [None])
table = tf.get_variable("table", [50, 8], initializer=tf.random_uniform_initializer(-0.1, 0.1))
inputs = tf.nn.embedding_lookup(table, words)
assert_type(inputs, tf.Tensor)
inputs = tf.nn.dropout(inputs, keep_prob=0.9)


def lstm_cell(units: int) -> tf.nn.rnn_cell.RNNCell:
    """One layer."""
    cell = tf.contrib.rnn.BasicLSTMCell(units, forget_bias=0.0, state_is_tuple=True)
    return tf.contrib.rnn.DropoutWrapper(cell, output_keep_prob=0.5)


cell = tf.nn.rnn_cell.MultiRNNCell([lstm_cell(8) for _ in range(2)], state_is_tuple=True)
state = cell.zero_state(tf.shape(words)[0], tf.float32)
outputs, final_state = tf.nn.dynamic_rnn(cell, inputs, sequence_length=lengths, initial_state=state)
last = final_state[-1].h
with tf.variable_scope("both"):
    (forward, backward), both_states = tf.nn.bidirectional_dynamic_rnn(
        tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(4), inputs, dtype=tf.float32
    )
joined = tf.concat([forward, backward], axis=-1)
with tf.variable_scope("static"):
    steps = tf.unstack(inputs, num=7, axis=1)
    static, static_state = tf.nn.static_rnn(tf.nn.rnn_cell.LSTMCell(4), steps, dtype=tf.float32)
flat = tf.reshape(outputs, [-1, 8])
weights = tf.get_variable("weights", [50, 8])
bias = tf.get_variable("bias", [50], initializer=tf.constant_initializer(0.0))
sampled = tf.nn.sampled_softmax_loss(weights, bias, tf.reshape(words, [-1, 1]), flat, num_sampled=5, num_classes=50)
logits = tf.nn.xw_plus_b(flat, tf.transpose(weights), bias)
loss = tf.contrib.seq2seq.sequence_loss(
    tf.reshape(logits, [-1, 7, 50]), words, tf.sequence_mask(lengths, 7, dtype=tf.float32), average_across_timesteps=False
)
loss = tf.reduce_sum(loss) + tf.reduce_mean(sampled)
variables = tf.trainable_variables()
gradients, norm = tf.clip_by_global_norm(tf.gradients(loss, variables), 5)
train_op = tf.train.GradientDescentOptimizer(1.0).apply_gradients(zip(gradients, variables, strict=True))
total = tf.while_loop(lambda i, s: i < 10, lambda i, s: (i + 1, s + i), [tf.constant(0), tf.constant(0)])[1]
array = tf.TensorArray(tf.float32, size=3, dynamic_size=True)
array = array.write(0, 1.0).write(1, 2.0).write(2, tf.constant(3.0))
assert_type(array.stack(), tf.Tensor)
squares = tf.map_fn(lambda x: x * x, tf.range(4))
running = tf.scan(lambda a, x: a + x, tf.range(4))
summed = tf.foldl(lambda a, x: a + x, tf.range(4))
units = outputs.shape[-1].value
batch, length = tf.unstack(tf.shape(words))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    feed = {words: np.ones([2, 7], np.int32), lengths: [7, 3]}
    print(sess.run([loss, last, joined, static[-1], total, squares, running, summed, batch * length], feed), units)
    sess.run(train_op, feed)
