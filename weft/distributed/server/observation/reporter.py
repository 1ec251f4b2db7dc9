"""Reporter: makes the reports of one server, of what its master, worker and connections count anyway."""

from __future__ import annotations

import importlib.metadata
import os
import resource
import socket
import time
from collections import Counter
from collections.abc import Mapping
from typing import Final

from weft.distributed.client.observation.task_report import (
    DeviceReport,
    FailureReport,
    GraphReport,
    PeerReport,
    QueueReport,
    TaskReport,
    UpdateReport,
    VariableReport,
    WaitReport,
)
from weft.distributed.master.master import Master
from weft.distributed.server.observation.wait_sampler import WaitSampler
from weft.distributed.worker.network.task_network import TaskNetwork
from weft.ops.data_flow.accumulator_state import AccumulatorState
from weft.ops.data_flow.contributors import late_replicas
from weft.platform.logs.recent_log import recent_log
from weft.platform.process.process_memory import resident_bytes
from weft.protocol.traffic import Traffic
from weft.runtime.executor import Executor
from weft.runtime.state.variable_slot import VariableSlot
from weft.runtime.worker import Worker
from weft.runtime.xla.memory_use import memory_of_devices

_VERSION: Final = importlib.metadata.version("weft")
_NAMED_OPS: Final = 4
_MOST: Final = 1000
"""Of variables, queues, graphs and waits each, the largest or the oldest."""


class Reporter:
    """Safe from any thread.

    Args:
        master, worker, network: the server's.
        cluster: the address of each of the cluster's tasks.
    """

    def __init__(self, master: Master, worker: Worker, network: TaskNetwork, cluster: Mapping[str, str]) -> None:
        self._master = master
        self._worker = worker
        self._network = network
        self._cluster = cluster
        self._began_s = time.monotonic()
        self.sampler = WaitSampler(master, worker)
        recent_log.begin()

    def report(self) -> TaskReport:
        """How the task is now."""
        self.sampler.keep_on()
        worker, counts, totals = self._worker, self._master.counts, self._worker.run_totals
        use = resource.getrusage(resource.RUSAGE_SELF)
        variables, queues = self._held()
        return TaskReport(
            task=worker.task, state=worker.state, time_s=time.time(), uptime_s=time.monotonic() - self._began_s,
            process_id=os.getpid(), host=socket.gethostname(), version=_VERSION, cluster=dict(self._cluster),
            cpu_s=use.ru_utime + use.ru_stime, resident_bytes=resident_bytes(), sessions=self._master.session_count,
            steps=counts.inline + counts.ended, timed_steps=counts.ended, step_s=counts.total_s, failed_steps=counts.failed,
            live_steps=self._master.live_steps, parts=totals.parts, live_parts=worker.live_steps, host_s=totals.host_s,
            compiled_s=totals.compiled_s, compile_s=totals.compile_s, codes=totals.codes,
            computing_s=self.sampler.computing_s, waiting_s=dict(self.sampler.waiting_s), updates=worker.updates,
            staleness=list(worker.staleness), devices=self._devices(), peers=self._peers(), variables=variables, queues=queues,
            graphs=self._graphs(), waits=self._waits(), late_updates=self._late_updates(),
            failures=[FailureReport(*failure) for failure in list(counts.failures)], log=recent_log.lines(),
        )  # fmt: skip

    def _devices(self) -> list[DeviceReport]:
        used = memory_of_devices()
        return [DeviceReport(name, *used.get(name.rpartition("/device:")[2], (0, 0))) for name in self._worker.devices]

    def _peers(self) -> list[PeerReport]:
        connected = self._network.peers.by_task.copy()
        traffic = self._network.peers.traffic()
        found = []
        for task in sorted({*traffic, *connected}):
            went, connection = traffic.get(task, Traffic()), connected.get(task)
            transport, queued = ("", 0) if connection is None else (connection.transport, connection.queued_bytes)
            found.append(
                PeerReport(
                    task, transport, went.sent_messages, went.sent_bytes, went.received_messages, went.received_bytes, queued
                )
            )
        return found

    def _held(self) -> tuple[list[VariableReport], list[QueueReport]]:
        variables, queues = [], []
        for container, name, item in self._worker.resources.items():
            if isinstance(item, VariableSlot):
                value = item.value
                if value is not None:
                    shape = str(list(value.shape))
                    variables.append(VariableReport(container, name, item.dtype.name, shape, int(value.nbytes)))
            elif (size := _size_of(item)) is not None:
                signature = getattr(item, "signature", None)
                kind, capacity = getattr(signature, "kind", type(item).__name__), getattr(signature, "capacity", -1)
                queues.append(QueueReport(container, name, str(kind), size, int(capacity)))
        variables.sort(key=lambda each: (-each.size_bytes, each.name))
        return variables[:_MOST], sorted(queues, key=lambda each: each.name)[:_MOST]

    def _late_updates(self) -> list[UpdateReport]:
        found = []
        for container, name, item in self._worker.resources.items():
            if isinstance(item, AccumulatorState):
                now = item.progress()
                needed, late = now["needed"], late_replicas(now["replicas"])
                if needed is not None and now["count"] < needed:
                    found.append(UpdateReport(container, name, now["step"], now["count"], needed, late, now["waited_s"]))
        return sorted(found, key=lambda each: (each.step, each.count, each.name))[:_MOST]

    def _graphs(self) -> list[GraphReport]:
        found = [_graph_report(executor) for executor in self._worker.executors.values()]
        return sorted(found, key=lambda each: -each.runs)[:_MOST]

    def _waits(self) -> list[WaitReport]:
        now_s, worker = time.monotonic(), self._worker
        found, here = [], set()
        for step in worker.running_steps:
            here.add(step.step_id)
            tasks, blocked = step.peers_awaited, ", ".join(step.waits_at)
            if tasks or blocked:
                found.append(WaitReport(f"{step.step_id:x}", now_s - step.began_s, tasks, blocked))
        for run in self._master.running_steps:
            if run.step_id not in here and run.began_s:
                tasks = [task for task in run.waits_for if task != worker.task]
                if tasks:
                    found.append(WaitReport(f"{run.step_id:x}", now_s - run.began_s, tasks))
        return sorted(found, key=lambda each: -each.age_s)[:_MOST]


def _graph_report(executor: Executor) -> GraphReport:
    counts = Counter(op.type for stage in executor.stages for op in stage.program.nodes)
    ops = ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts.most_common(_NAMED_OPS))
    more = "" if len(counts) <= _NAMED_OPS else ", ..."
    compiled = sum(stage.compiled is not None for stage in executor.stages)
    devices = ", ".join(sorted({device.rpartition("/device:")[2] for device in executor.devices}))
    peers = ", ".join(sorted(executor.peers))
    name = executor.session.name
    return GraphReport(name, devices, sum(counts.values()), ops + more, executor.runs, compiled, len(executor.stages), peers)


def _size_of(held: object) -> int | None:
    """How many elements or keys something holds; None of what does not count."""
    size = getattr(held, "size", getattr(getattr(held, "state", None), "size", None))
    return size if isinstance(size, int) else None
