"""LocalCluster: a cluster of server processes on this host in one line, for notebooks, tests and trying things out."""

from __future__ import annotations

import importlib
import inspect
import logging
import multiprocessing
import os
import time
from collections.abc import Mapping
from multiprocessing.process import BaseProcess
from typing import Any, Final

from tensorboard.compat.proto import config_pb2

from weft.distributed.client.observation.cluster_table import cluster_table
from weft.distributed.client.observation.observing import ClusterObserver
from weft.distributed.master.worker_cache import task_names
from weft.distributed.rpc.master.requests import wait_until_serving
from weft.distributed.server.server import Server
from weft.errors import DeadlineExceededError
from weft.framework.devices.cluster_spec import ClusterSpec
from weft.framework.types.printed import printed
from weft.platform.hosts.free_ports import free_ports
from weft.platform.imports.collections import no_collections
from weft.platform.process.process_cpu import cpu_s
from weft.platform.waits.wait_notice import WaitNotice
from weft.proto.messages import ConfigProto

_STILL_S: Final = 60.0
_LOG: Final = logging.getLogger("weft")
_LOOK_S: Final = 2.0
# By which a process says that it was running the program once more instead of serving.
_NO_GUARD: Final = 78


class LocalCluster:
    """Server processes on ports that the system chose; they end with the cluster, and with this process.

        with weft.LocalCluster(ps=1, worker=2) as cluster:
            session = tf.Session(cluster.target("worker", 0))

    A notebook shows it as a table of its tasks with what they do, hold and wait for just now.

    The processes are spawned, not forked, so it does not matter what this process has run before. A program that makes one at
    its top level guards it with `if __name__ == "__main__":`, as `multiprocessing` asks for; notebooks need no guard.

    Args:
        jobs, more_jobs: the number of tasks of each job, by its name; one job `local` of one task when there are none.
        config: the ConfigProto of every server.

    Raises:
        ValueError: a job has less than one task.
        RuntimeError: a process has ended before it served.
        DeadlineExceededError: one has computed nothing for a minute and does not serve.
    """

    __repr__ = printed("tf", lambda cluster: repr(cluster.spec))

    def __init__(self, jobs: Mapping[str, int] | None = None, *, config: ConfigProto | None = None, **more_jobs: int) -> None:
        if _is_main_program_again():
            # The process that started this one tells why. Nothing is to be said twice, and nothing of the program to be run on.
            os._exit(_NO_GUARD)
        counts = {**(jobs or {}), **more_jobs} or {"local": 1}
        for job, count in counts.items():
            if count < 1:
                raise ValueError(f"LocalCluster: job {job!r} needs at least one task, got {count}")
        addresses = iter(free_addresses(sum(counts.values())))
        self.spec = ClusterSpec({job: [next(addresses) for _ in range(count)] for job, count in counts.items()})
        self._config = config
        self._processes: dict[tuple[str, int], BaseProcess] = {}
        try:
            for job in self.spec.jobs:
                for index in self.spec.task_indices(job):
                    self._spawn(job, index)
            for job, index in self._processes:
                self._wait_for(job, index)
        except BaseException:
            self.stop()
            raise

    def _spawn(self, job: str, index: int) -> None:
        data = None if self._config is None else self._config.SerializeToString()
        process = multiprocessing.get_context("spawn").Process(
            target=_serve, args=(self.spec.as_dict(), job, index, data), daemon=True, name=f"weft-{job}-{index}"
        )
        process.start()
        self._processes[job, index] = process

    def _wait_for(self, job: str, index: int) -> None:
        begin = Begin(f"{job}:{index}", self._processes[job, index])
        wait_until_serving(self.spec.task_address(job, index), begin.check)

    def target(self, job: str | None = None, index: int = 0) -> str:
        """The target for a session on a task; of the first job when none is named.

        Args:
            job: a job's name, or None.
            index: the number of the task in it.
        """
        return f"grpc://{self.spec.task_address(job or self.spec.jobs[0], index)}"

    def process_id(self, job: str, index: int) -> int:
        """The process of a task, for tools that watch it, stop it or let it go on.

        Args:
            job, index: the task.
        """
        process_id = self._processes[job, index].pid
        assert process_id is not None
        return process_id

    def _repr_html_(self) -> str:
        observer = ClusterObserver(self.target().removeprefix("grpc://"), _LOOK_S)
        try:
            observer.take(task_names(self.spec))
            return cluster_table(observer.addresses, observer.reports())
        finally:
            observer.close()

    def kill(self, job: str, index: int) -> None:
        """End a task at once, as a crash would.

        Args:
            job, index: the task.
        """
        process = self._processes[job, index]
        process.kill()
        process.join()

    def restart(self, job: str, index: int) -> None:
        """Start a task again that was killed, at the same address; its state is gone. Blocks until it serves.

        Args:
            job, index: the task.
        """
        self.kill(job, index)
        self._spawn(job, index)
        self._wait_for(job, index)

    def stop(self) -> None:
        """End all tasks."""
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.join(timeout=5.0)
            if process.exitcode is None:
                process.kill()
                process.join()

    def __enter__(self) -> LocalCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Begin:
    """A process from its start until it serves, which takes as long as the machine makes it take.

    Args:
        task: whose it is.
        process: the process.
    """

    def __init__(self, task: str, process: BaseProcess) -> None:
        self._task = task
        self._process = process
        self._notice = WaitNotice()
        self._computed_s: float | None = None
        self._moved_s = time.monotonic()

    def check(self) -> None:
        """Raise when the process has ended or stands still; say now and then that it is waited for."""
        exit_code, computed_s = self._process.exitcode, cpu_s(self._process.pid or 0)
        if exit_code == _NO_GUARD:
            raise RuntimeError(
                "LocalCluster starts processes that import the program, so the program's own work must stand in a block "
                '`if __name__ == "__main__":`; this one makes its cluster outside of one'
            )
        if exit_code is not None:
            raise RuntimeError(f"LocalCluster: task {self._task} ended with exit code {exit_code} before it served")
        if computed_s != self._computed_s:
            self._computed_s, self._moved_s = computed_s, time.monotonic()
        if time.monotonic() - self._moved_s > _STILL_S:
            raise DeadlineExceededError.of(
                f"LocalCluster: task {self._task}, process {self._process.pid}, does not serve and has computed nothing for "
                f"{_STILL_S:g} s: look whether it is stopped, or waits for something in the program that it imports"
            )
        if self._notice.is_due():
            told = "" if computed_s is None else f", of which it has computed for {computed_s:.1f} s"
            _LOG.warning("LocalCluster still waits for task %s to serve, for %.0f s%s", self._task, self._notice.waited_s, told)


def _is_main_program_again() -> bool:
    """Whether this process was spawned and runs the top level of the main program, to have its functions."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == "__mp_main__":
            return True
        frame = frame.f_back
    return False


def free_addresses(count: int) -> list[str]:
    """Addresses on this host whose ports are free now, all different."""
    return [f"127.0.0.1:{port}" for port in free_ports(count)]


def _serve(spec: dict[str, Any], job: str, index: int, config: bytes | None) -> None:
    # This process has loaded only what this function needs; its clients' graphs may have any op.
    with no_collections():
        importlib.import_module("weft.namespace")
    Server(spec, job, index, config=None if config is None else config_pb2.ConfigProto.FromString(config)).join()
