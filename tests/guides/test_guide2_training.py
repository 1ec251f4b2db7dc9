"""Guide 2, second part: the trainer program by its four command lines, and synchronous training."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

import weft as tf
from tests.guides.conftest import Cluster, StartProgram, StartServers
from weft.distributed.server.local_cluster import free_addresses


@pytest.mark.timeout(120)
def test_four_command_lines_train_and_a_second_run_resumes(start_program: StartProgram, tmp_path: Path) -> None:
    def run(last_step: int, tasks: int) -> list[tuple[int, int, float]]:
        addresses = free_addresses(2 * tasks)
        hosts = [f"--ps_hosts={','.join(addresses[:tasks])}", f"--worker_hosts={','.join(addresses[tasks:])}"]
        options = [f"--train_dir={tmp_path}", f"--last_step={last_step}"]
        started = [
            start_program("trainer.py", *hosts, f"--job_name={job}", f"--task_index={index}", *options)
            for job in ("ps", "worker")
            for index in range(tasks)
        ]
        results = []
        for worker in started[tasks:]:
            line = worker.wait()[-1]
            found = re.fullmatch(r"first step (\d+), last step (\d+), loss ([\d.]+)", line)
            assert found is not None, worker.output
            results.append((int(found[1]), int(found[2]), float(found[3])))
        for server in started[:tasks]:
            assert server.is_running
            assert [line for line in server.output if "Started server with target" not in line] == []
            server.kill()
        return results

    first = run(last_step=400, tasks=2)
    # What a run fetches may be the step before its own update, or one that the other worker has made meanwhile.
    assert all(396 <= last <= 404 for _, last, _ in first)
    assert all(loss < 0.05 for _, _, loss in first)
    saved = tf.train.latest_checkpoint(str(tmp_path))
    assert saved is not None
    assert 400 <= tf.train.load_variable(saved, "global_step") <= 404

    # The checkpoint fits a smaller cluster too.
    second = run(last_step=500, tasks=1)
    assert min(start for start, _, _ in second) >= 400
    assert all(loss < 0.05 for _, _, loss in second)


def test_synchronous_replicas_apply_the_average_of_their_gradients_together(start_servers: StartServers) -> None:
    cluster: Cluster = start_servers({"ps": 1, "worker": 2})
    spec = tf.train.ClusterSpec(cluster["ps"][0].server_def.cluster)
    ended: list[int] = []

    def train(index: int) -> None:
        with tf.Graph().as_default():
            with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=spec)):
                v = tf.Variable(0.0, name="v")
                global_step = tf.train.get_or_create_global_step()
                optimizer = tf.train.SyncReplicasOptimizer(
                    tf.train.GradientDescentOptimizer(1.0), replicas_to_aggregate=2, total_num_replicas=2
                )
                # The gradients are -1 and -3; each step adds the average of two or more, of which one replica may send several.
                train_op = optimizer.minimize(-(1.0 + 2.0 * index) * v, global_step=global_step)
            hooks = [optimizer.make_session_run_hook(is_chief=index == 0), tf.train.StopAtStepHook(last_step=5)]
            with tf.train.MonitoredTrainingSession(cluster["worker"][index].target, index == 0, hooks=hooks) as session:
                while not session.should_stop():
                    session.run(train_op)
            ended.append(index)

    threads = [threading.Thread(target=train, args=(index,), daemon=True) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(40)
    assert sorted(ended) == [0, 1]
    with tf.device("/job:ps/task:0"):
        v, global_step = tf.Variable(0.0, name="v"), tf.train.get_or_create_global_step()
    with tf.Session(cluster["ps"][0].target) as session:
        value, step = session.run([v, global_step])
    assert step >= 5
    assert step <= value <= 3 * step


@pytest.mark.parametrize("idiom", ["hook", "queue_runner", "scaffold"])
def test_replicas_train_in_step_in_each_idiom(start_program: StartProgram, idiom: str) -> None:
    addresses = free_addresses(3)
    server, *workers = [
        start_program("sync_trainer.py", idiom, job, index, *addresses)
        for job, index in (("ps", 0), ("worker", 0), ("worker", 1))
    ]
    for worker in workers:
        assert worker.wait(60)[-1] == "ended"
    assert server.is_running
    with tf.device("/job:ps/task:0"):
        value = tf.get_variable("value", [])
        global_step = tf.train.get_or_create_global_step()
    config = tf.ConfigProto(device_filters=["/job:ps"])
    with tf.Session(f"grpc://{addresses[0]}", config=config) as session:
        reached, step = session.run([value, global_step])
    # One update a step, of the mean of the gradients: more or fewer would give another power.
    assert step >= 8
    assert reached == pytest.approx(0.8**step, rel=1e-5)
