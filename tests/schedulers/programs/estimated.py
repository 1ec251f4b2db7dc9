"""An Estimator that `train_and_evaluate` trains, told where it is by TF_CONFIG alone."""

import json
import os

import weft as tf

tf.app.flags.DEFINE_string("model", "", "directory for checkpoints")
tf.app.flags.DEFINE_integer("steps", 30, "steps of all workers together")
tf.app.flags.DEFINE_float("task_s", 0.0, "how long a step takes at least")
FLAGS = tf.app.flags.FLAGS


def input_fn():
    features = tf.data.Dataset.from_tensor_slices(tf.random_uniform([256, 4], seed=1))
    examples = features.map(lambda each: ({"x": each}, tf.reduce_sum(each, keepdims=True)))
    return examples.shuffle(256, seed=2).repeat().batch(16).prefetch(1)


def model_fn(features, labels, mode, params):
    predictions = tf.layers.dense(tf.layers.dense(features["x"], params["units"], tf.nn.relu), 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": predictions})
    loss = tf.losses.mean_squared_error(labels, predictions)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"error": tf.metrics.mean_absolute_error(labels, predictions)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdamOptimizer(0.05).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main(_):
    tf.logging.set_verbosity(tf.logging.INFO)
    task = json.loads(os.environ["TF_CONFIG"])["task"]
    config = tf.estimator.RunConfig(model_dir=FLAGS.model, save_checkpoints_steps=20, log_step_count_steps=10)
    estimator = tf.estimator.Estimator(model_fn, params={"units": 8}, config=config)
    exporter = tf.estimator.FinalExporter(
        "final", tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None, 4])})
    )
    tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(input_fn, max_steps=FLAGS.steps),
        tf.estimator.EvalSpec(input_fn, steps=4, exporters=exporter, start_delay_secs=0, throttle_secs=1),
    )
    print(f"{task['type']} {task['index']} is done", flush=True)


if __name__ == "__main__":
    tf.app.run()
