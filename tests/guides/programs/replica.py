"""A worker of a job: `replica.py TARGET MODEL STEPS`, where MODEL is one of `chiefs`, `scoped`, `wide`.

It prints a line when it trains, makes STEPS steps, one each time a line comes in, and prints another at its end.
"""

from __future__ import annotations

import sys

import weft as tf

target, model, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])

with tf.device(tf.train.replica_device_setter(ps_tasks=1, worker_device="/job:worker/task:1")):
    step = tf.train.get_or_create_global_step()
    with tf.variable_scope("replica_1" if model == "scoped" else "model"):
        tf.get_variable("v", [3 if model == "wide" else 2])
    train_op = tf.assign_add(step, 1)

config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:1"])
try:
    with tf.train.MonitoredTrainingSession(target, is_chief=False, max_wait_secs=30, config=config) as session:
        print("training", session.run(train_op))
        for _ in range(steps - 1):
            sys.stdin.readline()
            print("step", session.run(train_op))
except tf.errors.InvalidArgumentError as error:
    print("refused:", error.message)
print("ended")
