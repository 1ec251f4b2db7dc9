"""What the tasks of a chaos job run: a parameter server, and a worker that trains and probes at the same time.

They run in forked processes: whoever forks has imported weft, and started nothing of it.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import socket
import stat
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import weft as tf
from reliability.chaos.history import Recorder
from reliability.chaos.probe import probe

WORKERS, SERVERS = 3, 2


@dataclass(frozen=True)
class Job:
    """One job, as all of its processes know it."""

    folder: Path
    cluster: dict[str, list[str]]
    is_sync: bool
    steps: int
    seed: int


def serve(job: Job, kind: str, index: int) -> None:
    """Be a parameter server until a signal ends it."""
    _prepare(job, kind, index)
    tf.train.Server(job.cluster, kind, index).join()


def work(job: Job, index: int, generation: int) -> None:
    """Be a worker: train to the job's last step, and probe shared objects beside it; generation 0 is the first process."""
    _prepare(job, "worker", index)
    server = tf.train.Server(job.cluster, "worker", index)
    process = f"worker-{index}.{generation}"
    over = threading.Event()
    arguments = (job.folder / f"probe-{process}.jsonl", process, server.target, index, job.seed, over)
    prober = threading.Thread(target=probe, args=arguments, name="probe")
    prober.start()
    try:
        with Recorder(job.folder / f"train-{process}.jsonl", process).closing() as recorder:
            _train(job, server, index, recorder)
            recorder.note("trained")
    finally:
        over.set()
        prober.join()


def _train(job: Job, server: Any, index: int, recorder: Recorder) -> None:
    with tf.Graph().as_default():
        with tf.device(tf.train.replica_device_setter(cluster=job.cluster, worker_device=f"/job:worker/task:{index}")):
            step = tf.train.get_or_create_global_step()
            weights = [tf.get_variable(f"w{i}", [8], initializer=tf.zeros_initializer()) for i in range(SERVERS)]
            # The gradient is one everywhere: each update takes one from every weight, so the weights count the updates.
            loss = tf.add_n([tf.reduce_sum(each) for each in weights])
            optimizer: Any = tf.train.GradientDescentOptimizer(1.0)
            hooks: list[Any] = [tf.train.StopAtStepHook(last_step=job.steps), _Record(recorder)]
            if job.is_sync:
                optimizer = tf.train.SyncReplicasOptimizer(optimizer, WORKERS, WORKERS)
                hooks.append(optimizer.make_session_run_hook(index == 0))
            train = optimizer.minimize(loss, global_step=step)
        with tf.train.MonitoredTrainingSession(
            master=server.target, is_chief=index == 0, hooks=hooks, checkpoint_dir=str(job.folder / "model"),
            save_checkpoint_secs=None, save_checkpoint_steps=20, save_summaries_steps=None, save_summaries_secs=None,
            log_step_count_steps=None,
        ) as session:  # fmt: skip
            while not session.should_stop():
                number = recorder.begin("step", "train")
                _, at = session.run([train, step])
                recorder.end(number, "ok", int(at))


class _Record(tf.train.SessionRunHook):
    """Notes when a session is made: the first time, and after each failure that training has got over."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._recorder.note("session")


def _prepare(job: Job, kind: str, index: int) -> None:
    log = os.open(job.folder / f"log-{kind}-{index}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w", buffering=1), os.fdopen(2, "w", buffering=1)
    tf.logging.set_verbosity(tf.logging.INFO)
    faulthandler.register(signal.SIGUSR2, all_threads=True)
    faulthandler.enable()
    signal.signal(signal.SIGUSR1, _cut)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _cut(*_: object) -> None:
    """Cut all connections of this process, as a network would that resets them; listening sockets stay."""
    for fd in range(3, 1024):
        try:
            if not stat.S_ISSOCK(os.fstat(fd).st_mode):
                continue
            with socket.socket(fileno=os.dup(fd)) as copy:
                if not copy.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    copy.shutdown(socket.SHUT_RDWR)
        except OSError:
            continue
