"""SessionState: what a task keeps for one session beside the shared resources."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from tensorboard.compat.proto import config_pb2

from weft.platform.files.file_access import FileAccess
from weft.protocol.limits import ServerLimits
from weft.protocol.messages import Array, StepDone, StepFailed
from weft.protocol.outcome_table import OutcomeTable
from weft.runtime.host_permits import permits_of
from weft.runtime.state.function_plan import FunctionPlan, PlanKey
from weft.runtime.state.random_streams import RandomStreams
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.state.session_tensors import SessionTensors

DETERMINISM_VARIABLE: Final = "TF_DETERMINISTIC_OPS"
"""TensorFlow's variable of the environment: set to 1 or true, a program's runs give the same numbers each time."""


class PartOutcome(NamedTuple):
    """What a task's part of a step has answered its master, and what it has sent: to which peer, by which edges, what."""

    answer: StepDone | StepFailed
    pushes: Sequence[tuple[str, tuple[int, ...], Sequence[Array]]] = ()


class SessionState:
    """A session's streams of random numbers, its way of compiling, the tensors it keeps, and the resources it sees.

    Args:
        resources: the task's resources, or the session's own when it is isolated.
        config: the session's ConfigProto; `graph_options.optimizer_options.global_jit_level` ON_1 or ON_2 compiles every
            stage at its first run, OFF never, and otherwise code is made beside the steps unless the environment asks for
            determinism; `inter_op_parallelism_threads` bounds how many host kernels run at a time.
        name: the session's name in the cluster.
        file_access: what its graphs may open; None for everything.
        limits: how many tensors it may keep; None for any number.
    """

    def __init__(
        self,
        resources: ResourceManager,
        config: Any = None,
        name: str = "",
        file_access: FileAccess | None = None,
        limits: ServerLimits | None = None,
    ) -> None:
        self.resources = resources
        self.file_access = file_access
        self.name = name
        self.is_closed = False
        self.lost_master: int | None = None
        """The incarnation of the master's task when its connection was lost; None while it is there."""
        self.outcomes: OutcomeTable[PartOutcome] = OutcomeTable()
        """Of the steps that masters in other processes have asked this task for."""
        self.tensors = SessionTensors(limits)
        self.host_permits = permits_of(config)
        level = config.graph_options.optimizer_options.global_jit_level if config is not None else 0
        options = config_pb2.OptimizerOptions
        self.compile_at_once = level in (options.ON_1, options.ON_2)
        self.waits_for_code = self.compile_at_once or os.environ.get(DETERMINISM_VARIABLE, "") in ("1", "true", "True")
        self.never_compile = level == options.OFF
        self.streams = RandomStreams()
        self.plans: dict[PlanKey, FunctionPlan] = {}
        """Of the functions that host kernels call."""

    @property
    def is_away(self) -> bool:
        """Whether nobody can run steps in the session now: it is closed, or its master's process is dead or cut off."""
        return self.is_closed or self.lost_master is not None
