"""What a program pays before its first result: the import, and the first run of a small graph."""

from __future__ import annotations

import importlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from benchmarks import launched_job, profile
from benchmarks.children import Children
from benchmarks.cluster import free_addresses
from benchmarks.framework import MODULES, ROOT, WEFT, framework, framework_name
from benchmarks.timing import Sample, once

IMPORTS = 3
PARAMETER_SERVERS = ("/job:ps/task:0", "/job:ps/task:1")
WORKERS = ("/job:worker/task:0", "/job:worker/task:1")


def import_time() -> Sample:
    """Seconds of the import in a fresh interpreter; the first of four is not counted, it fills disk caches.

    It ends when the module has given a name of its own: weft loads most of itself then.
    """
    module = MODULES[framework_name()]
    with profile.whole():
        # Only a profile needs the import here: it is fresh in this process.
        if profile.is_on():
            _ = importlib.import_module(module).Session
    source = f"import time; start = time.perf_counter(); import {module} as tf; tf.Session; print(time.perf_counter() - start)"
    seconds = [_last_number([sys.executable, "-c", source]) for _ in range(1 + IMPORTS)][1:]
    return Sample(statistics.median(seconds), min(seconds), len(seconds))


def cluster_start() -> Sample:
    """Seconds to start two parameter servers and two workers, a process each, and to run a step on all four."""
    tf = framework()
    cluster = free_addresses(ps=2, worker=2)
    numbers = []
    for number, task in enumerate((*PARAMETER_SERVERS, *WORKERS)):
        with tf.device(task):
            numbers.append(tf.Variable(float(number)).initialized_value() + 1.0)
    total = tf.add_n(numbers)
    with Children() as children:
        started = time.perf_counter()
        children_of_jobs = [
            children.start("benchmarks.cluster:serve", cluster=cluster, job=job, index=index)
            for job in ("ps", "worker")
            for index in range(2)
        ]
        for child in children_of_jobs:
            child.hear()
        with tf.Session(f"grpc://{cluster['worker'][0]}") as session:
            value = session.run(total)
            seconds = time.perf_counter() - started
    if value != 10.0:
        raise AssertionError(f"1 + 2 + 3 + 4 on four tasks gave {value}")
    return once(seconds)


def cluster_ready() -> Sample:
    """Seconds until two parameter servers and two workers serve, beyond those of as many processes that import nothing."""
    cluster = free_addresses(ps=2, worker=2)
    tasks = [{"cluster": cluster, "job": job, "index": index} for job in ("ps", "worker") for index in range(2)]
    idle_s = _until_ready("benchmarks.cluster:idle", [{} for _ in tasks])
    return once(max(_until_ready("benchmarks.cluster:serve", tasks) - idle_s, 0.0))


def _until_ready(role: str, tasks: Sequence[dict[str, Any]]) -> float:
    with Children() as children:
        started = time.perf_counter()
        for child in [children.start(role, **each) for each in tasks]:
            child.hear()
        return time.perf_counter() - started


def launched() -> Sample:
    """Seconds from the launch of a parameter server and two workers to the chief's first step.

    TensorFlow has no launcher: its tasks are started beside each other with the same flags.
    """
    program = str(ROOT / "benchmarks" / "launched_job.py")
    if framework_name() == WEFT:
        commands = [[sys.executable, "-m", "weft.cli", "launch", "--ps", "1", "--worker", "2", program]]
    else:
        cluster = free_addresses(ps=1, worker=2)
        hosts = [f"--{job}_hosts={','.join(addresses)}" for job, addresses in cluster.items()]
        commands = [
            [sys.executable, program, *hosts, f"--job_name={job}", f"--task_index={index}"]
            for job, index in (("worker", 0), ("worker", 1), ("ps", 0))
        ]
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    started = time.perf_counter()
    processes = [
        subprocess.Popen(each, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}) for each in commands
    ]
    try:
        stdout = processes[0].stdout
        assert stdout is not None
        if not any(launched_job.FIRST_STEP in line for line in stdout):
            raise AssertionError("the chief ended before its first step")
        return once(time.perf_counter() - started)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.communicate(timeout=20)


def _last_number(command: list[str]) -> float:
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return float(output.split()[-1])


def first_run() -> Sample:
    """Seconds from an empty graph to the first value, everything included but the import."""
    tf = framework()
    started = time.perf_counter()
    with profile.whole():
        total = tf.add(tf.constant(1.0), tf.constant(2.0))
        with tf.Session() as session:
            value = session.run(total)
            seconds = time.perf_counter() - started
    if value != 3.0:
        raise AssertionError(f"1 + 2 gave {value}")
    return once(seconds)
