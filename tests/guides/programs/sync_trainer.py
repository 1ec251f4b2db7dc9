"""Synchronous training in each of its idioms: `sync_trainer.py IDIOM JOB INDEX PS_ADDRESS WORKER_ADDRESS WORKER_ADDRESS`.

IDIOM is `hook`, `queue_runner` (init tokens and the chief's queue runner under a Supervisor) or `scaffold` (explicit init ops
in a MonitoredTrainingSession). Every update multiplies the variable by 0.8, whoever's gradients it is made of.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import weft as tf

LAST_STEP = 8
idiom, job, index = sys.argv[1], sys.argv[2], int(sys.argv[3])
cluster = tf.train.ClusterSpec({"ps": sys.argv[4:5], "worker": sys.argv[5:]})
is_chief = index == 0


def build() -> tuple[Any, Any, Any]:
    with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=cluster)):
        value = tf.get_variable("value", [], initializer=tf.ones_initializer())
        global_step = tf.train.get_or_create_global_step()
        optimizer = tf.train.SyncReplicasOptimizer(
            tf.train.GradientDescentOptimizer(0.1), replicas_to_aggregate=2, total_num_replicas=2
        )
        train_op = optimizer.minimize(tf.square(value), global_step=global_step)
    return optimizer, train_op, global_step


def with_hook(target: str) -> None:
    optimizer, train_op, _ = build()
    hooks = [optimizer.make_session_run_hook(is_chief), tf.train.StopAtStepHook(last_step=LAST_STEP)]
    with tf.train.MonitoredTrainingSession(target, is_chief, hooks=hooks) as session:
        while not session.should_stop():
            session.run(train_op)


def with_queue_runner(target: str) -> None:
    optimizer, train_op, global_step = build()
    queue_runner, init_tokens = optimizer.get_chief_queue_runner(), optimizer.get_init_tokens_op()
    supervisor = tf.train.Supervisor(
        is_chief=is_chief,
        init_op=tf.global_variables_initializer(),
        local_init_op=optimizer.chief_init_op if is_chief else optimizer.local_step_init_op,
        ready_for_local_init_op=optimizer.ready_for_local_init_op,
        recovery_wait_secs=1,
        global_step=global_step,
    )
    session = supervisor.prepare_or_wait_for_session(target)
    if is_chief:
        session.run(init_tokens)
        supervisor.start_queue_runners(session, [queue_runner])
    # The step is read when the update is over: a replica that saw an older one would go on, alone, when the other has ended.
    # The chief that ends closes the queue of tokens, which tells the other that training is over.
    with contextlib.suppress(tf.errors.OutOfRangeError):
        while session.run(global_step) < LAST_STEP:
            session.run(train_op)
    supervisor.stop()
    session.close()


def with_scaffold(target: str) -> None:
    optimizer, train_op, _ = build()
    scaffold = tf.train.Scaffold(
        local_init_op=optimizer.chief_init_op if is_chief else optimizer.local_step_init_op,
        ready_for_local_init_op=optimizer.ready_for_local_init_op,
    )
    init_tokens = optimizer.get_init_tokens_op()
    if is_chief:
        tf.train.add_queue_runner(optimizer.get_chief_queue_runner())
    hooks = [tf.train.StopAtStepHook(last_step=LAST_STEP)]
    with tf.train.MonitoredTrainingSession(target, is_chief, scaffold=scaffold, hooks=hooks) as session:
        if is_chief:
            session.run_step_fn(lambda step_context: step_context.session.run(init_tokens))
        while not session.should_stop():
            session.run(train_op)


server = tf.train.Server(cluster, job_name=job, task_index=index)
if job == "ps":
    server.join()
{"hook": with_hook, "queue_runner": with_queue_runner, "scaffold": with_scaffold}[idiom](server.target)
print("ended")
