"""Train the graphs of a folder with TensorFlow and print the losses, or what went wrong, as one JSON object by name.

Each is trained twice: from the start, and from the checkpoint that lies beside it.

It is run by the Python of a TensorFlow, 1.15 or later: `train_in_tensorflow.py FOLDER [NAME ...]`.
"""

import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow
import tensorflow.compat.v1 as tf

if tensorflow.__version__.startswith("1."):
    # Its ops are registered when it is looked at.
    _ = tensorflow.contrib.rnn, tensorflow.contrib.seq2seq

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)

STEPS = 3


def train(name, plan, folder, from_checkpoint):
    tf.reset_default_graph()
    saver = tf.train.import_meta_graph(os.path.join(folder, name + ".meta"))
    feeds = dict(np.load(os.path.join(folder, name + ".npz")))
    with tf.Session() as session:
        for each in plan["before"]:
            session.run(each)
        if from_checkpoint:
            saver.restore(session, os.path.join(folder, name))
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        losses = []
        for _ in range(STEPS):
            losses.append(float(session.run([plan["loss"]] + plan["extra"], feeds)[0]))
            session.run(plan["train"], feeds)
        coordinator.request_stop()
        closing = [
            op for op in session.graph.get_operations() if op.type.startswith("QueueClose") and "cancel" in op.name.lower()
        ]
        session.run(closing)
        coordinator.join(threads, stop_grace_period_secs=10, ignore_live_threads=True)
    return losses


def main(folder, names):
    with open(os.path.join(folder, "plans.json")) as file:
        plans = json.load(file)
    results = {}
    for name in names or sorted(plans):
        try:
            results[name] = [train(name, plans[name], folder, from_checkpoint) for from_checkpoint in (False, True)]
        except Exception as error:
            results[name] = type(error).__name__ + ": " + str(error)[:2000]
    print(json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
