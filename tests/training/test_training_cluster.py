"""Training sessions on clusters: chief and workers, lost tasks, replicas in step."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.distributed.server.local_cluster import free_addresses
from weft.training.sessions import recovery
from weft.training.sessions.coordinated_session import CoordinatedSessionCreator
from weft.training.sessions.recoverable_session import RecoverableSession

pytestmark = pytest.mark.timeout(100)


class Cluster:
    """Servers on threads of this process, which can be stopped and started again."""

    def __init__(self, ps: int, worker: int) -> None:
        addresses = free_addresses(ps + worker)
        self.spec = tf.train.ClusterSpec({"ps": addresses[:ps], "worker": addresses[ps:]})
        self._servers: dict[tuple[str, int], Any] = {}
        for job in self.spec.jobs:
            for index in self.spec.task_indices(job):
                self.start(job, index)

    def start(self, job: str, index: int) -> None:
        self._servers[job, index] = tf.train.Server(self.spec, job, index)

    def stop(self, job: str, index: int) -> None:
        self._servers.pop((job, index)).stop()

    def target(self, index: int) -> str:
        return str(self._servers["worker", index].target)

    def config(self, index: int) -> Any:
        return tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"])

    def close(self) -> None:
        for server in self._servers.values():
            server.stop()


@pytest.fixture
def make_cluster() -> Iterator[Callable[..., Cluster]]:
    made: list[Cluster] = []

    def make(ps: int = 1, worker: int = 1) -> Cluster:
        made.append(Cluster(ps, worker))
        return made[-1]

    yield make
    for cluster in made:
        cluster.close()


class Replica:
    """A worker's program on a thread, with a graph of its own; `result` gives what it returns or raises."""

    def __init__(self, program: Callable[[int], Any], index: int) -> None:
        self._outcome: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(program, index), daemon=True)
        self._thread.start()

    def _run(self, program: Callable[[int], Any], index: int) -> None:
        try:
            with tf.Graph().as_default():
                self._outcome = program(index)
        except BaseException as error:
            self._error = error

    def result(self) -> Any:
        self._thread.join(80)
        assert not self._thread.is_alive(), "the replica hangs"
        if self._error is not None:
            raise self._error
        return self._outcome


def test_chief_and_worker_train_one_model_and_stop_together(make_cluster: Callable[..., Cluster], tmp_path: Path) -> None:
    cluster = make_cluster(ps=2, worker=2)

    def program(index: int) -> int:
        with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=cluster.spec)):
            value = tf.Variable([4.0, 2.0], name="value")
            step = tf.train.get_or_create_global_step()
            # A gradient that is the same everywhere: one that comes late, as asynchronous ones may, changes no sum.
            train = tf.train.GradientDescentOptimizer(0.25).minimize(tf.reduce_sum(value), global_step=step)
        with tf.train.MonitoredTrainingSession(
            cluster.target(index),
            is_chief=index == 0,
            checkpoint_dir=str(tmp_path),
            hooks=[tf.train.StopAtStepHook(last_step=200)],
            config=cluster.config(index),
        ) as session:
            while not session.should_stop():
                session.run(train)
            return int(session._tf_sess().run(step))

    # The worker is there first and waits.
    replicas = [Replica(program, index) for index in (1, 0)]
    assert all(200 <= replica.result() <= 202 for replica in replicas)
    steps = tf.train.load_variable(str(tmp_path), "global_step")
    np.testing.assert_array_equal(tf.train.load_variable(str(tmp_path), "value"), [4.0 - steps / 4, 2.0 - steps / 4])


def test_a_parameter_server_that_comes_back_is_restored_and_training_goes_on(
    make_cluster: Callable[..., Cluster], tmp_path: Path
) -> None:
    cluster = make_cluster()
    with tf.device(tf.train.replica_device_setter(cluster=cluster.spec)):
        step = tf.train.get_or_create_global_step()
        increment = step.assign_add(1)
    seen = []
    with tf.train.MonitoredTrainingSession(cluster.target(0), checkpoint_dir=str(tmp_path), save_checkpoint_steps=5) as session:
        for run in range(20):
            if run == 12:
                cluster.stop("ps", 0)
                cluster.start("ps", 0)
            seen.append(int(session.run(increment)))
    # Step 10 was saved, 11 and 12 are made once more.
    assert seen == [*range(1, 13), *range(11, 19)]


def test_a_worker_waits_until_the_chief_has_restored_what_was_lost(
    make_cluster: Callable[..., Cluster], tmp_path: Path
) -> None:
    cluster = make_cluster(ps=2, worker=2)
    restarted, lost = threading.Barrier(3), threading.Barrier(3)

    def program(index: int) -> Any:
        with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=cluster.spec)):
            step = tf.train.get_or_create_global_step()
            total = tf.Variable(0.0, name="total")
            train = tf.group(step.assign_add(1), total.assign_add(1.0))
        with tf.train.MonitoredTrainingSession(
            cluster.target(index),
            is_chief=index == 0,
            checkpoint_dir=str(tmp_path),
            save_checkpoint_steps=1,
            hooks=[tf.train.StopAtStepHook(last_step=60)],
            config=cluster.config(index),
        ) as session:
            session.run(train)
            lost.wait(60)
            restarted.wait(60)
            while not session.should_stop():
                session.run(train)
            return session._tf_sess().run([step, total])

    replicas = [Replica(program, index) for index in range(2)]
    lost.wait(60)
    cluster.stop("ps", 1)
    cluster.start("ps", 1)
    restarted.wait(60)
    for replica in replicas:
        step, total = replica.result()
        assert step >= 60
        assert total >= 55


def test_a_variable_that_the_program_leaves_without_a_value_is_not_waited_for() -> None:
    tf.Variable(1.0)
    left = tf.Variable(1.0, name="left")
    nothing = tf.constant([], tf.string)
    scaffold = tf.train.Scaffold(init_op=tf.no_op(), ready_op=nothing, ready_for_local_init_op=nothing)
    with (
        pytest.raises(tf.errors.AbortedError, match="Variable 'left' had a value when the session began"),
        tf.train.MonitoredSession(tf.train.ChiefSessionCreator(scaffold)) as session,
    ):
        session.run(left)


def test_workers_tell_a_parameter_server_that_they_are_done_by_its_queue(make_cluster: Callable[..., Cluster]) -> None:
    cluster = make_cluster(ps=1, worker=2)

    def program(index: int) -> None:
        with tf.device("/job:ps/task:0"):
            done = tf.FIFOQueue(2, tf.int32, shared_name="done_queue")
        # The queue is elsewhere than the device says: what uses it goes there.
        with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=cluster.spec)):
            tell = done.enqueue(index)
        with tf.Session(cluster.target(index), config=cluster.config(index)) as session:
            session.run(tell)

    replicas = [Replica(program, index) for index in range(2)]
    with tf.device("/job:ps/task:0"):
        told = tf.FIFOQueue(2, tf.int32, shared_name="done_queue").dequeue()
    with tf.Session(cluster.target(0)) as session:
        assert {int(session.run(told)) for _ in range(2)} == {0, 1}
    for replica in replicas:
        replica.result()


def test_a_task_that_stays_away_is_given_up_with_all_attempts_told(make_cluster: Callable[..., Cluster]) -> None:
    waits: list[float] = []
    policy = recovery.RetryPolicy(attempts=4, first_wait_s=0.5, longest_wait_s=1.5)
    budget = recovery.RetryBudget(policy, sleep=waits.append)

    class Gone(tf.train.SessionCreator):
        def create_session(self) -> Any:
            raise tf.errors.UnavailableError(None, None, "Task /job:ps/task:0 is gone\ndetails")

    with pytest.raises(tf.errors.UnavailableError) as raised:
        RecoverableSession(CoordinatedSessionCreator(Gone(), [], 1), budget)
    message = raised.value.message
    assert message.startswith("Task /job:ps/task:0 is gone")
    assert "Gave up after 4 attempts" in message
    assert "making a session: UnavailableError: Task /job:ps/task:0 is gone (4 times)" in message
    assert waits == [0.5, 1.0, 1.5]


def test_a_step_that_succeeds_starts_the_count_anew() -> None:
    budget = recovery.RetryBudget(recovery.RetryPolicy(attempts=2), sleep=lambda seconds: None)
    error = tf.errors.AbortedError(None, None, "lost")
    for _ in range(5):
        budget.failed("running a step", error)
        budget.succeeded()
    budget.failed("running a step", error)
    with pytest.raises(tf.errors.AbortedError, match="Gave up after 2 attempts"):
        budget.failed("running a step", error)


def sync_model(index: int, cluster: Cluster, aggregate: int, total: int) -> tuple[Any, Any, Any, Any]:
    with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=cluster.spec)):
        dense = tf.Variable([1.0, 2.0], name="dense")
        table = tf.Variable(tf.ones([4, 2]), name="table")
        step = tf.train.get_or_create_global_step()
        loss = tf.reduce_sum(tf.square(dense)) + tf.reduce_sum(tf.gather(table, [1, 1, 2]))
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), aggregate, total)
        train = optimizer.minimize(loss, global_step=step)
    return optimizer, train, step, [dense, table]


def check_sync_values(cluster: Cluster, at_least: int) -> None:
    """Check what the variables are when all replicas have ended."""
    with tf.Graph().as_default():
        _, _, step, variables = sync_model(0, cluster, 1, 1)
        with tf.Session(cluster.target(0), config=cluster.config(0)) as session:
            steps, (dense, table) = session.run([step, variables])
    assert steps >= at_least
    np.testing.assert_allclose(dense, [0.8**steps, 2 * 0.8**steps], rtol=1e-4)
    np.testing.assert_allclose(table[:, 0], [1, 1 - 0.2 * steps, 1 - 0.1 * steps, 1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("aggregate", "total"), [(2, 2), (1, 2), (4, 2)])
def test_replicas_in_step_make_updates_of_means(make_cluster: Callable[..., Cluster], aggregate: int, total: int) -> None:
    cluster = make_cluster(ps=2, worker=2)

    def program(index: int) -> Any:
        optimizer, train, _, _ = sync_model(index, cluster, aggregate, total)
        assert optimizer._local_step.device == f"/job:worker/task:{index}"
        hooks = [optimizer.make_session_run_hook(index == 0), tf.train.StopAtStepHook(last_step=6)]
        with tf.train.MonitoredTrainingSession(
            cluster.target(index), is_chief=index == 0, hooks=hooks, config=cluster.config(index)
        ) as session:
            while not session.should_stop():
                session.run(train)

    for replica in [Replica(program, index) for index in range(2)]:
        replica.result()
    check_sync_values(cluster, 6)


@pytest.mark.parametrize("inits", [True, False])
def test_replicas_in_step_under_supervisors(make_cluster: Callable[..., Cluster], inits: bool) -> None:
    cluster = make_cluster(ps=1, worker=2)

    def program(index: int) -> Any:
        is_chief = index == 0
        optimizer, train, step, _ = sync_model(index, cluster, 2, 2)
        tokens = optimizer.get_init_tokens_op()
        # Many programs know of the tokens and of the chief's thread alone.
        more: Any = {}
        if inits:
            more["local_init_op"] = optimizer.chief_init_op if is_chief else optimizer.local_step_init_op
            more["ready_for_local_init_op"] = optimizer.ready_for_local_init_op
        supervisor = tf.train.Supervisor(is_chief=is_chief, recovery_wait_secs=1, global_step=step, **more)
        with supervisor.managed_session(cluster.target(index), config=cluster.config(index)) as session:
            if is_chief:
                supervisor.start_queue_runners(session, [optimizer.get_chief_queue_runner()])
                session.run(tokens)
            while not supervisor.should_stop() and session.run(step) < 5:
                session.run(train)

    for replica in [Replica(program, index) for index in range(2)]:
        replica.result()
    check_sync_values(cluster, 5)


def test_sync_replicas_checks_its_use() -> None:
    value = tf.Variable(1.0)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.AdamOptimizer(), 3, 2)
    with pytest.raises(ValueError, match="Should be called after apply_gradients"):
        optimizer.get_chief_queue_runner()
    with pytest.raises(ValueError, match="should be called after apply_gradients"):
        optimizer.get_init_tokens_op()
    with pytest.raises(ValueError, match="before using the hook"):
        optimizer.make_session_run_hook(True).begin()
    with pytest.raises(ValueError, match="Global step is required"):
        optimizer.minimize(value)
    with pytest.raises(ValueError, match="at least one variable"):
        optimizer.apply_gradients([], global_step=value)
    optimizer.minimize(value * value, global_step=tf.train.get_or_create_global_step())
    with pytest.raises(ValueError, match=r"Too few tokens to finish the first step: 0 \(given\) vs 1 \(needed\)"):
        optimizer.get_init_tokens_op(0)
    names = {variable.op.name for variable in optimizer.variables()}
    assert {"Variable/Adam", "Variable/Adam_1"} <= names
    assert optimizer.get_slot(value, "m") is not None


def test_a_chief_whose_hooks_take_long_at_the_end_does_not_warn_of_replicas_that_have_ended(
    make_cluster: Callable[..., Cluster], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="weft")
    cluster = make_cluster(worker=2)
    at_end, is_told = threading.Event(), threading.Event()
    told: list[str] = []

    class Told(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "worker/task:1 is gone" in record.getMessage():
                told.append(record.levelname)
                is_told.set()

    class SlowEnd(tf.train.SessionRunHook):
        def end(self, session: Any) -> None:
            at_end.set()
            is_told.wait(40)

    def train(index: int) -> None:
        with tf.Graph().as_default(), tf.device(tf.train.replica_device_setter(cluster=cluster.spec)):
            weight = tf.get_variable("weight", initializer=1.0)
            step = tf.train.get_or_create_global_step()
            optimizer = tf.train.SyncReplicasOptimizer(
                tf.train.GradientDescentOptimizer(0.1), 2, total_num_replicas=2, replica_timeout_secs=0.2
            )
            train_op = optimizer.minimize(tf.square(weight), step)
            init_tokens = optimizer.get_init_tokens_op()
            scaffold = tf.train.Scaffold(
                local_init_op=optimizer.local_step_init_op if index else optimizer.chief_init_op,
                ready_for_local_init_op=optimizer.ready_for_local_init_op,
            )
            if index == 0:
                tf.train.add_queue_runner(optimizer.get_chief_queue_runner())
            hooks = [] if index else [SlowEnd()]
            with tf.train.MonitoredTrainingSession(
                cluster.target(index), index == 0, scaffold=scaffold, hooks=hooks
            ) as session:
                if index == 0:
                    session.run_step_fn(lambda step_context: step_context.session.run(init_tokens))
                session.run(train_op)
                if index:
                    at_end.wait(40)

    handler = Told()
    logging.getLogger("weft").addHandler(handler)
    try:
        threads = [threading.Thread(target=train, args=(index,), daemon=True) for index in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        logging.getLogger("weft").removeHandler(handler)
    assert told == ["INFO"]
