"""Guide 3, second part: five servers, sessions from clients, pins, variables spread over servers, state across sessions."""

from __future__ import annotations

import pytest

import weft as tf
from tests.guides.conftest import Cluster, StartServers

SOFT = tf.ConfigProto(allow_soft_placement=True)


@pytest.fixture
def five(start_servers: StartServers) -> Cluster:
    return start_servers({"ps": 2, "worker": 3})


def devices_used(session: tf.Session, fetch: object) -> list[str]:
    metadata = tf.RunMetadata()
    session.run(fetch, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    return [stats.device for stats in metadata.step_stats.dev_stats]


def test_a_session_on_any_of_five_servers_runs_the_graph(five: Cluster) -> None:
    a = tf.constant(1.0)
    b = a + 2
    c = b * 3
    for server in five["ps"] + five["worker"]:
        with tf.Session(server.target):
            assert c.eval() == 9.0


def test_nodes_are_pinned_to_tasks_and_devices_of_tasks(five: Cluster) -> None:
    with tf.device("/job:ps/task:0/cpu:0"):
        a = tf.constant(1.0)
    with tf.device("/job:worker/task:1/gpu:0"):
        b = a + 2
    c = a + b
    with tf.Session(five["worker"][2].target, config=SOFT) as session:
        assert c.eval() == 4.0
        used = devices_used(session, c)
    assert used[0] == "/job:worker/replica:0/task:2/device:CPU:0"
    assert any(name.startswith("/job:worker/replica:0/task:1/") for name in used)


def test_a_gpu_that_no_task_has_is_refused_with_the_devices_that_there_are(five: Cluster) -> None:
    with tf.device("/job:worker/task:1/gpu:7"):
        a = tf.constant(1.0, name="a")
    with tf.Session(five["ps"][0].target), pytest.raises(tf.errors.InvalidArgumentError, match=r"a: .*task:1/device:CPU:0"):
        a.eval()


def test_variables_alternate_between_parameter_servers() -> None:
    with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        variables = [tf.Variable(float(i)) for i in range(5)]
    assert [v.device for v in variables] == [f"/job:ps/task:{i}" for i in (0, 1, 0, 1, 0)]


def test_the_device_setter_counts_the_tasks_of_a_cluster_spec() -> None:
    spec = tf.train.ClusterSpec({"ps": ["a:1", "b:1", "c:1"], "worker": ["d:1"]})
    with tf.device(tf.train.replica_device_setter(cluster=spec)):
        variables = [tf.Variable(float(i)) for i in range(4)]
        product = variables[0] * 2.0
    assert [v.device for v in variables] == [f"/job:ps/task:{i}" for i in (0, 1, 2, 0)]
    assert product.device == "/job:worker"


def test_inner_device_scopes_refine_the_setters_choice(five: Cluster) -> None:
    setter = tf.train.replica_device_setter(ps_tasks=2, ps_device="/job:ps", worker_device="/job:worker")
    with tf.device(setter):
        v1 = tf.Variable(1.0)
        v2 = tf.Variable(2.0)
        v3 = tf.Variable(3.0)
        s = v1 + v2
        with tf.device("/gpu:0"):
            p1 = 2 * s
            with tf.device("/task:1"):
                p2 = 3 * s
    assert [v.device for v in (v1, v2, v3)] == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"]
    assert [s.device, p1.device, p2.device] == ["/job:worker", "/job:worker/device:GPU:0", "/job:worker/task:1/device:GPU:0"]
    with tf.Session(five["ps"][0].target, config=SOFT):
        v1.initializer.run()
        v2.initializer.run()
        assert [s.eval(), p1.eval(), p2.eval()] == [3.0, 6.0, 9.0]


def test_variables_outlive_distributed_sessions_and_not_local_ones(five: Cluster) -> None:
    x = tf.Variable(0.0, name="x")
    increment = tf.assign(x, x + 1)
    target = five["ps"][1].target
    with tf.Session(target) as session:
        session.run(x.initializer)
        session.run(increment)
        assert x.eval() == 1.0
    with tf.Session(target) as session:
        session.run(increment)
        assert x.eval() == 2.0
    with tf.Session(), pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value x"):
        x.eval()


def test_another_graph_finds_the_variable_by_its_name(five: Cluster) -> None:
    x = tf.Variable(5.0, name="x")
    with tf.Session(five["ps"][0].target):
        x.initializer.run()
    with tf.Graph().as_default():
        again = tf.Variable(0.0, name="x")
        with tf.Session(five["worker"][1].target):
            assert again.eval() == 5.0


@pytest.mark.parametrize("other", [0, [0.0, 1.0]])
def test_an_accidental_equal_name_of_another_type_or_shape_is_told_at_once(five: Cluster, other: object) -> None:
    with tf.Session(five["ps"][0].target):
        tf.Variable(0.0, name="x").initializer.run()
    with tf.Graph().as_default():
        x = tf.Variable(other, name="x")
        with tf.Session(five["worker"][0].target) as session:
            for fetch in (x, x.initializer):
                with pytest.raises(tf.errors.InvalidArgumentError, match=r"'x' is held as float32 of shape \[\].*disagree"):
                    session.run(fetch)


def test_containers_and_scopes_keep_equal_names_apart(five: Cluster) -> None:
    variables = []
    for problem in ("problem_1", "problem_2"):
        with tf.variable_scope(problem):
            variables.append(tf.Variable(0.0, name="x"))
    assert [v.op.name for v in variables] == ["problem_1/x", "problem_2/x"]
    with tf.container("experiment"):
        contained = tf.Variable(7.0, name="x")
    outside = tf.Variable(1.0, name="y")
    target = five["worker"][0].target
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        session.run(variables[0].assign_add(1.0))
        assert session.run([*variables, contained]) == [1.0, 0.0, 7.0]
    tf.Session.reset(target, ["experiment"])
    with tf.Session(target) as session:
        assert session.run(outside) == 1.0
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value x"):
            session.run(contained)
