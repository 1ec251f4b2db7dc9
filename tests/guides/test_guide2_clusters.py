"""Guide 2, first part: hello world, cluster specifications, a model over two parameter servers and workers, replication."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.guides.conftest import Cluster, StartServers


@pytest.fixture
def training_cluster(start_servers: StartServers) -> Cluster:
    return start_servers({"ps": 2, "worker": 2})


def test_hello_world_comes_back_as_bytes() -> None:
    c = tf.constant("Hello, distributed TensorFlow!")
    with tf.train.Server.create_local_server() as server, tf.Session(server.target) as sess:
        assert server.target.startswith("grpc://localhost:")
        assert sess.run(c) == b"Hello, distributed TensorFlow!"


@pytest.mark.parametrize(
    ("jobs", "tasks"),
    [
        ({"local": ["localhost:2222", "localhost:2223"]}, {"local": {0: "localhost:2222", 1: "localhost:2223"}}),
        (
            {
                "worker": [f"worker{i}.example.com:2222" for i in range(3)],
                "ps": [f"ps{i}.example.com:2222" for i in range(2)],
            },
            {
                "worker": {i: f"worker{i}.example.com:2222" for i in range(3)},
                "ps": {i: f"ps{i}.example.com:2222" for i in range(2)},
            },
        ),
        ({"worker": {1: "worker1.example.com:2222"}}, {"worker": {1: "worker1.example.com:2222"}}),
    ],
)
def test_a_cluster_spec_names_the_tasks_of_its_jobs(jobs: dict[str, Any], tasks: dict[str, dict[int, str]]) -> None:
    spec = tf.train.ClusterSpec(jobs)
    assert sorted(spec.jobs) == sorted(tasks)
    for job, addresses in tasks.items():
        assert spec.task_indices(job) == list(addresses)
        assert spec.num_tasks(job) == len(addresses)
        assert {index: spec.task_address(job, index) for index in addresses} == addresses
    assert spec.as_dict() == jobs
    for form in (spec, spec.as_cluster_def(), spec.as_dict()):
        assert tf.train.ClusterSpec(form) == spec


def test_a_server_of_a_task_that_the_cluster_lacks_is_refused() -> None:
    spec = tf.train.ClusterSpec({"local": ["localhost:0"]})
    with pytest.raises(ValueError, match="worker"):
        tf.train.Server(spec, job_name="worker", task_index=0)
    with pytest.raises(ValueError, match="1"):
        tf.train.Server(spec, job_name="local", task_index=1)


def test_a_model_over_two_parameter_servers_trains_from_a_client(training_cluster: Cluster) -> None:
    random = np.random.RandomState(0)
    inputs = random.uniform(-1, 1, size=(64, 4)).astype(np.float32)
    targets = np.abs(inputs).sum(axis=1, keepdims=True)
    with tf.device("/job:ps/task:0"):
        weights_1 = tf.Variable(random.normal(size=(4, 16), scale=0.5).astype(np.float32))
        biases_1 = tf.Variable(tf.zeros([16]))
    with tf.device("/job:ps/task:1"):
        weights_2 = tf.Variable(random.normal(size=(16, 1), scale=0.5).astype(np.float32))
        biases_2 = tf.Variable(tf.zeros([1]))
    with tf.device("/job:worker/task:1"):
        layer_1 = tf.nn.relu(tf.matmul(tf.constant(inputs), weights_1) + biases_1)
        outputs = tf.matmul(layer_1, weights_2) + biases_2
        loss = tf.reduce_mean(tf.square(outputs - targets))
        train_op = tf.train.AdagradOptimizer(0.3).minimize(loss)
    with tf.Session(training_cluster["worker"][1].target) as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(loss)
        for _ in range(200):
            sess.run(train_op)
        assert sess.run(loss) < before / 10


def test_in_graph_replicas_average_their_gradients(training_cluster: Cluster) -> None:
    with tf.device("/job:ps/task:0"):
        v = tf.Variable(0.0)
    gradients = []
    for index, goal in enumerate([1.0, 3.0]):
        with tf.device(f"/job:worker/task:{index}"):
            gradients.append(tf.gradients(tf.square(v - goal), [v])[0])
    optimizer = tf.train.GradientDescentOptimizer(0.25)
    train_op = optimizer.apply_gradients([(tf.add_n(gradients) / 2.0, v)])
    with tf.Session(training_cluster["worker"][0].target) as sess:
        sess.run(v.initializer)
        for _ in range(40):
            sess.run(train_op)
        assert sess.run(v) == pytest.approx(2.0)


def test_between_graph_replicas_put_the_same_variables_on_the_same_tasks(training_cluster: Cluster) -> None:
    spec = tf.train.ClusterSpec(training_cluster["ps"][0].server_def.cluster)
    sessions, steps, placements = [], [], []
    for index in range(2):
        with tf.Graph().as_default() as graph:
            with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=spec)):
                one, two = tf.Variable(0.0, name="one"), tf.Variable(0.0, name="two")
                amount = tf.constant(1.0 + index)
            steps.append((one.assign_add(amount), two.assign_sub(amount)))
            placements.append([one.device, two.device, amount.device])
            sessions.append(tf.Session(training_cluster["worker"][index].target, graph=graph))
            if index == 0:
                sessions[0].run(tf.global_variables_initializer())
    assert placements == [
        ["/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:0"],
        ["/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:1"],
    ]
    assert sessions[0].run(steps[0]) == (1.0, -1.0)
    assert sessions[1].run(steps[1]) == (3.0, -3.0)
    for session in sessions:
        session.close()
