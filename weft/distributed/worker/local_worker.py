"""LocalWorker: the master's handle of a worker in the same process; no transport at all."""

from __future__ import annotations

from collections.abc import Sequence

from tensorboard.compat.proto.config_pb2 import ConfigProto

from weft.distributed.worker.task_status import TaskStatus
from weft.distributed.worker.worker_handle import StepOwner
from weft.errors import OpError
from weft.framework.building.aliases import Array
from weft.framework.devices.device_attributes import DeviceAttributes
from weft.framework.nodes.operation import Operation, Tensor
from weft.passes.partition import Partition
from weft.protocol.master_step import PartDone, PartFailed
from weft.runtime.choice.stage_report import StageReport
from weft.runtime.executor import Executor
from weft.runtime.step.step import Step
from weft.runtime.step_trace import StepTrace
from weft.runtime.worker import Worker


class LocalWorker:
    """A WorkerHandle that calls the worker; parts run on the thread that waits for the step."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.task = worker.task

    @property
    def is_local(self) -> bool:
        """True: the task is here."""
        return True

    @property
    def incarnation(self) -> int:
        """The worker's incarnation; 0 when it is stopped."""
        return self.worker.incarnation if self.worker.stopped is None else 0

    def connect(self) -> int:
        """The worker's incarnation; it is here."""
        return self.incarnation

    def register(self, session_handle: str, config: ConfigProto, partition: Partition) -> str:
        """Register a partition."""
        self.worker.sessions.create(session_handle, config, config.isolate_session_state)
        return self.worker.register(session_handle, partition)

    def close_session(self, session_handle: str) -> None:
        """Forget a session."""
        self.worker.close_session(session_handle)

    def deregister(self, graph_handle: str) -> None:
        """Forget a registered graph."""
        self.worker.deregister(graph_handle)

    def run_graph(
        self,
        step_id: int,
        graph_handle: str,
        feeds: Sequence[Array],
        trace: bool,
        owner: StepOwner,
        is_again: bool = False,
    ) -> Step:
        """Start a part of a step on this thread; later stages run on the thread that waits for the step."""
        step_trace = StepTrace() if trace else None

        def done(step: Step) -> None:
            if step.error is not None:
                owner.tell(PartFailed(self.task, step.error))
            else:
                owner.tell(PartDone(self.task, step.fetches, None if step_trace is None else step_trace.as_proto()))

        return self.worker.run_graph(step_id, graph_handle, feeds, done, step_trace, owner, owner.go_on, owner.context)

    def flush(self) -> None:
        """Do nothing: a part begins when it is asked for."""

    def waits_at(self, step_id: int) -> list[str]:
        """The nodes at which a step is blocked."""
        return self.worker.waits_at(step_id)

    def awaits(self, step_id: int, task: str) -> Sequence[Tensor | Operation]:
        """What a step lacks here of another task's."""
        return self.worker.awaits(step_id, task)

    def abort(self, step_id: int, error: OpError) -> None:
        """End a step here."""
        self.worker.abort(step_id, error)

    def clear(self, containers: Sequence[str]) -> None:
        """Drop containers, or all."""
        self.worker.resources.clear(containers)

    def explain(self, graph_handle: str) -> list[StageReport]:
        """What the stages of a registered graph tell about themselves."""
        return self.worker.executor(graph_handle).explain()

    def local_executor(self, graph_handle: str) -> Executor | None:
        """The executor itself."""
        return self.worker.executor(graph_handle)

    def source(self) -> None:
        """None: the task is here."""


def status_of(worker: Worker) -> TaskStatus:
    """The answer of a task in this process that is asked how it is."""
    devices = tuple(DeviceAttributes(name, 0, worker.incarnation) for name in worker.devices)
    return TaskStatus(devices, worker.incarnation)
