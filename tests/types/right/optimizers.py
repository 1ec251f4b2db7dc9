"""Optimizers, gradients, schedules, synchronous replicas."""

from typing import Any, assert_type

import weft as tf

w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
loss = tf.reduce_sum(tf.square(w))
step = tf.train.get_or_create_global_step()
rate = tf.train.exponential_decay(0.1, step, 100, 0.96, staircase=True)
optimizer = tf.train.AdamOptimizer(learning_rate=rate, beta1=0.9)
assert_type(optimizer, tf.train.AdamOptimizer)
assert_type(optimizer.minimize(loss, global_step=step, var_list=[w]), tf.Operation)
pairs = optimizer.compute_gradients(loss, tf.trainable_variables())
clipped = [(tf.clip_by_norm(gradient, 1.0), variable) for gradient, variable in pairs if gradient is not None]
applied = optimizer.apply_gradients(clipped, global_step=step)
gradients = tf.gradients(loss, [w])
assert_type(gradients, list[tf.Tensor | Any])
norms, norm = tf.clip_by_global_norm(gradients, 5.0)
manual = tf.group(w.assign_sub(0.1 * norms[0]), name="manual")
replicas = tf.train.SyncReplicasOptimizer(tf.train.MomentumOptimizer(0.01, 0.9), replicas_to_aggregate=2, total_num_replicas=2)
sync = replicas.minimize(loss, global_step=step)
hook: tf.train.SessionRunHook = replicas.make_session_run_hook(is_chief=True, num_tokens=0)
others: list[tf.train.Optimizer] = [tf.train.RMSPropOptimizer(0.1), tf.train.FtrlOptimizer(0.1), tf.train.AdagradOptimizer(0.1)]
print([each.get_name() for each in others], list(optimizer.get_slot_names()))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    assert_type(sess.run(applied), None)
    print(sess.run([norm, rate, manual]))
