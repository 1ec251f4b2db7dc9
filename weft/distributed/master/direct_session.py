"""Sessions without a server: a master and one worker of their own, in this process, by the same code as a cluster's."""

from __future__ import annotations

import secrets
import weakref
from typing import Any, Final

from weft.distributed.master.master_session import MasterSession
from weft.distributed.worker.local_worker import LocalWorker
from weft.errors import CancelledError
from weft.framework.devices.device_attributes import DeviceAttributes
from weft.framework.graphs.graph import Graph
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.worker import Worker
from weft.runtime.xla import engine_options
from weft.runtime.xla.device import local_device_names

_JOB = "localhost"
_OPEN: Final[weakref.WeakSet[MasterSession]] = weakref.WeakSet()


def open_direct_session(graph: Graph, config: Any) -> MasterSession:
    """Open a session whose state is its own and ends with it."""
    task = f"/job:{_JOB}/replica:0/task:0"
    engine_options.request(config)
    devices = local_device_names(_JOB, 0, config.device_count)
    resources = ResourceManager(_JOB)
    worker = Worker(task, devices, secrets.randbits(62) | 1, resources)
    handle = f"direct-{secrets.token_hex(8)}"
    local = LocalWorker(worker)

    def close() -> None:
        worker.close_session(handle)
        resources.clear()

    attributes = [DeviceAttributes(name, 0, worker.incarnation) for name in devices]
    session = MasterSession(handle, graph, lambda task: local, devices, config, close, lambda: attributes)
    _OPEN.add(session)
    return session


def close_direct_sessions() -> None:
    """End every session without a server: what it keeps is its own, so none of it is left to begin anew with."""
    for session in list(_OPEN):
        session.close(CancelledError.of("Session has been closed."))
