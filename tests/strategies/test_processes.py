"""Strategies of several workers, which are processes here: their gradients meet, and a lost worker is told of."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

_CUSTOM = """
import os, sys
import numpy as np
import weft as tf

strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
with strategy.scope():
    iterator = strategy.make_input_fn_iterator(
        lambda place: tf.data.Dataset.from_tensor_slices(np.array([[1.0], [2.0]], np.float32)).batch(1)
        .shard(place.num_input_pipelines, place.input_pipeline_id).repeat())

    def step(x):
        place = tf.distribute.get_replica_context().replica_id_in_sync_group
        w = tf.get_variable("w", [1, 1])  # random: the first worker's value is everybody's
        table = tf.get_variable("table", [3, 1], initializer=tf.zeros_initializer())
        count = tf.get_variable("count", [], initializer=tf.zeros_initializer(), trainable=False,
                                aggregation=tf.VariableAggregation.SUM)
        loss = tf.reduce_sum(tf.matmul(x, w)) + tf.reduce_sum(tf.gather(table, [place, 2]))
        train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
        with tf.control_dependencies([train, count.assign_add(tf.cast(place + 1, tf.float32))]):
            return tf.cast(place, tf.float32)

    mean = strategy.reduce("mean", strategy.experimental_run(step, iterator))
    init, start = tf.global_variables_initializer(), iterator.initialize()
    w, table, count = tf.global_variables()
    values = [w.read_value(), table.read_value(), count.read_value()]
with tf.Session() as session:
    session.run([init, *start])
    before = session.run(values[0])
    assert [session.run(mean) for _ in range(3)] == [0.5] * 3
    after, rows, counted = session.run(values)
    moved = round(float((before - after)[0, 0]), 4)
    print("told", round(float(before[0, 0]), 5), moved, rows.ravel().tolist(), counted, flush=True)
    if len(sys.argv) > 1:
        if strategy.extended.first_id == 1:
            os._exit(3)
        try:
            session.run(mean)
        except tf.errors.OpError as error:
            print("lost", "a process that trains with this one has ended" in str(error), flush=True)
"""

_ESTIMATOR = """
import sys
import numpy as np
import weft as tf

X = np.random.RandomState(0).rand(32, 3).astype(np.float32)
Y = (X.sum(1, keepdims=True) > 1.5).astype(np.float32)

def input_fn(input_context=None):
    dataset = tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat().batch(4)
    if input_context is not None:
        dataset = dataset.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
    return dataset

def model_fn(features, labels, mode):
    hidden = tf.layers.dense(features["x"], 4, tf.nn.tanh, kernel_initializer=tf.constant_initializer(0.3), name="h")
    logits = tf.layers.dense(hidden, 1, kernel_initializer=tf.constant_initializer(0.2), name="l")
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(0.05).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

class Losses(tf.train.SessionRunHook):
    found = []
    def begin(self):
        self.loss = tf.get_collection(tf.GraphKeys.LOSSES)[-1]
    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.loss)
    def after_run(self, run_context, run_values):
        self.found.append(round(float(run_values.results), 5))

strategy = getattr(tf.contrib.distribute, sys.argv[2])()
config = tf.estimator.RunConfig(sys.argv[1], train_distribute=strategy, save_checkpoints_steps=10,
                                experimental_max_worker_delay_secs=0)
estimator = tf.estimator.Estimator(model_fn, config=config)
spec = tf.estimator.EvalSpec(input_fn, steps=1)
tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(input_fn, max_steps=20, hooks=[Losses()]), spec)
print("told", Losses.found[:4], Losses.found[-1:], len(Losses.found), flush=True)
if config.is_chief:
    print("saved", estimator.get_variable_value("global_step") >= 20, flush=True)
"""


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _run_workers(program: str, folder: Path, *arguments: str) -> list[tuple[int, str]]:
    """The exit codes and outputs of two workers that run a program."""
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    cluster = {"worker": [f"127.0.0.1:{port}" for port in _free_ports(2)]}
    started = []
    try:
        for index in range(2):
            place = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})
            environment = {**os.environ, "TF_CONFIG": place, "JAX_PLATFORMS": "cpu"}
            started.append(
                subprocess.Popen(
                    [sys.executable, str(path), *arguments], env=environment, text=True, stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                )
            )  # fmt: skip
        outputs = [each.communicate(timeout=120)[0] for each in started]
    finally:
        for each in started:
            if each.poll() is None:
                each.kill()
            each.wait()
    return [(each.returncode, output) for each, output in zip(started, outputs, strict=True)]


def _told(output: str, word: str = "told") -> str:
    return next((line for line in output.splitlines() if line.startswith(word)), output[-3000:])


@pytest.mark.slow
def test_workers_sum_their_gradients_by_collectives(tmp_path: Path) -> None:
    (code, first), (other_code, second) = _run_workers(_CUSTOM, tmp_path)
    assert (code, other_code) == (0, 0), first[-2000:] + second[-2000:]
    assert _told(first) == _told(second)
    # Three steps of the sum of 1 and 2; the rows 0 and 1 of a worker each, row 2 of both.
    assert _told(first).endswith("9.0 [-3.0, -3.0, -6.0] 9.0")


@pytest.mark.slow
def test_a_lost_worker_fails_the_others_next_step(tmp_path: Path) -> None:
    (code, first), (other_code, _) = _run_workers(_CUSTOM, tmp_path, "lose")
    assert _told(first, "lost") == "lost True"
    assert (code, other_code) == (0, 3)


@pytest.mark.slow
def test_an_estimator_of_two_workers_trains_as_one_of_two_replicas(tmp_path: Path) -> None:
    (code, first), (other_code, second) = _run_workers(
        _ESTIMATOR, tmp_path, str(tmp_path / "model"), "CollectiveAllReduceStrategy"
    )
    assert (code, other_code) == (0, 0), first[-2000:] + second[-2000:]
    # The losses of MirroredStrategy on two devices, which TensorFlow has too: see test_estimators.
    assert _told(first) == _told(second) == "told [0.54378, 0.83286, 0.73433, 0.76422] [0.57116] 20"
    assert _told(first, "saved") == "saved True"


@pytest.mark.slow
def test_workers_share_variables_on_parameter_servers(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(_ESTIMATOR, encoding="utf-8")
    tasks = ["--ps", "1", "--chief", "1", "--worker", "1", "--no-flags"]
    command = [
        sys.executable,
        "-m",
        "weft.cli",
        "launch",
        *tasks,
        str(path),
        str(tmp_path / "model"),
        "ParameterServerStrategy",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-3000:]
    lines = [line.partition("| ")[2] for line in done.stdout.splitlines()]
    assert "saved True" in lines
    # The two workers have made the steps together.
    steps = [int(line.rpartition(" ")[2]) for line in lines if line.startswith("told")]
    assert 20 <= sum(steps) <= 24
