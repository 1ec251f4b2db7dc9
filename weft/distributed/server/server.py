"""Server: one task of a cluster in this process: a master, a worker, and what makes them reachable."""

from __future__ import annotations

import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from weft.channel.listener import Listener
from weft.distributed.master.master import Master
from weft.distributed.master.master_session import MasterSession
from weft.distributed.master.served_sessions import ServedSessions
from weft.distributed.rpc import options as grpc_options
from weft.distributed.rpc.gate import StandingConnections
from weft.distributed.rpc.health import HealthService
from weft.distributed.rpc.heartbeat_timeout import heartbeat_timeout_s
from weft.distributed.rpc.master import methods as master_methods
from weft.distributed.rpc.threads import RpcThreads
from weft.distributed.server.admissions import Admissions
from weft.distributed.server.announcements import Announcements, announcer_of
from weft.distributed.server.binding import bind_task
from weft.distributed.server.file_roots import file_access_of
from weft.distributed.server.in_process import local_servers
from weft.distributed.server.job_end import VARIABLE as ENDS_WITH_JOB
from weft.distributed.server.job_end import JobEnd
from weft.distributed.server.observation.observed import Observed
from weft.distributed.server.server_def import OwnTask, as_server_def
from weft.distributed.server.services.call_service import CallService
from weft.distributed.server.services.master_service import MasterService
from weft.distributed.server.services.observation_service import ObservationService
from weft.distributed.server.services.stop_service import StopService
from weft.distributed.server.sweeper import Sweeper
from weft.distributed.server.task_directory import PeerStubs, TaskDirectory
from weft.distributed.server.welcome import Welcome
from weft.distributed.worker import worker_service
from weft.distributed.worker.network.task_network import TaskNetwork
from weft.distributed.worker.session_owners import SessionOwners
from weft.distributed.worker.worker_service import WorkerService
from weft.errors import AbortedError, UnavailableError
from weft.framework.devices.cluster_spec import ClusterLike
from weft.framework.graphs.graph import Graph
from weft.platform.imports.grpc_modules import grpc
from weft.platform.process.launcher_link import TaskNews, tell_launcher
from weft.platform.process.stop_signals import StopSignals
from weft.proto import master_pb2, tensorflow_server_pb2
from weft.proto.messages import ConfigProto
from weft.proto.tensorflow_server_pb2 import ServerDef
from weft.protocol.limits import VARIABLE as LIMITS_VARIABLE
from weft.protocol.limits import ServerLimits
from weft.runtime.inter_op_pool import InterOpPool
from weft.runtime.state.resource_manager import HeldResource, ResourceManager
from weft.runtime.step.spans import spans
from weft.runtime.worker import Worker
from weft.runtime.xla import engine_options
from weft.runtime.xla.device import local_device_names

_LOG = logging.getLogger("weft")
_CALLS_END_S = 1.0
_LOOK_S = 0.01  # between looks whether the steps have ended, while the server drains


class Server:
    """A task of a cluster; serves sessions and executes its part of others' until it is stopped.

        with tf.train.Server({"local": ["localhost:0"]}) as server:
            session = tf.Session(server.target)

    Several servers may run in one process. All methods are safe from any thread.

    Args:
        server_or_cluster_def: a ServerDef, ClusterDef, ClusterSpec, or the dict of one.
        job_name, task_index: which task this is; may be left out where the cluster has only one.
        protocol: 'grpc'.
        config: the ConfigProto of sessions that bring none, and of this task's devices.
        start: whether to serve at once.
        insecure: whether anybody who reaches the server may use it, and run what he likes with this process's rights. Without
            that, a server on a loopback address takes processes of the same user only, and one on another address needs the
            cluster's credentials, out of the environment; see docs/security.md.
        limits: how much it keeps for its clients; by default as `WEFT_LIMITS` in the environment says; see docs/security.md.
        file_roots: the directories below which graphs that run here may read and write; by default everything on a loopback
            address, else the current directory, or nothing where the user's home is in that.
        url_schemes: the URL schemes that they may use beside, such as "gs"; none by default.
        metrics_port: a port for the task's metrics in Prometheus' form, at `/metrics`; 0 for any free one. By default as the
            environment's `WEFT_METRICS_PORT` says, else none; see docs/watching.md.
        announce: whether to tell the other tasks the address that this one has, which may be another than they know it by. By
            default as the environment's `WEFT_ANNOUNCE` says (0 or 1), else not; see docs/deployment.md.

    Raises:
        ValueError: the task is not in the cluster.
        PermissionDeniedError: its address is reachable from other hosts, and there are no credentials.
        InvalidArgumentError: its address has no port, its host does not resolve, or it announces one that nobody can dial.
        UnknownError: the port is in use.

    >>> with tf.train.Server({"local": ["localhost:0"]}) as server:
    ...     print(server.target.startswith("grpc://localhost:"))
    True
    """

    _network: TaskNetwork

    def __init__(
        self,
        server_or_cluster_def: ServerDef | ClusterLike,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: ConfigProto | None = None,
        start: bool = True,
        insecure: bool = False,
        limits: ServerLimits | None = None,
        file_roots: Sequence[str | os.PathLike[str]] | None = None,
        url_schemes: Sequence[str] | None = None,
        metrics_port: int | None = None,
        announce: bool | None = None,
    ) -> None:
        limits = self._limits = limits or ServerLimits.from_text(os.environ.get(LIMITS_VARIABLE, ""))
        self._task = task = OwnTask(as_server_def(server_or_cluster_def, job_name, task_index, protocol, config))
        self._admissions = Admissions(task.job, task.index, task.address, insecure)
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._is_stopping = self._is_started = False
        default_config = task.definition.default_session_config
        self._stubs = PeerStubs(task.name, task.cluster, heartbeat_timeout_s(default_config, os.environ))
        engine_options.request(default_config)
        engine_options.share_cores(task.tasks_on_host)
        devices = local_device_names(task.job, task.index, default_config.device_count)
        resources = ResourceManager(task.job)
        file_access = file_access_of(task.name, task.host, file_roots, url_schemes, os.environ)
        self._worker = Worker(task.name, devices, secrets.randbits(62) | 1, resources, self._make_network, file_access, limits)
        directory = TaskDirectory(task.cluster, self._worker, self._network, self._stubs, lambda: self._port)
        self._master = Master(task.name, task.cluster, directory.make_cache, default_config, limits.absent_task_s)
        self._sessions = ServedSessions(self._master, limits)
        self._calls = CallService(self._sessions, InterOpPool("calls"), self._admissions.take_session)
        self._taskers = SessionOwners(self._worker, self._network.peers.incarnation_of, limits.lost_session_s)
        self._port = 0
        self._observed = Observed(self._master, self._worker, self._network, task, self._admissions, metrics_port)
        self._announcer = announcer_of(task, announce, self._worker.incarnation, self._stubs, lambda: self._port)
        self._health = HealthService((master_methods.SERVICE, worker_service.SERVICE))
        self._rpc: Any = grpc.server(RpcThreads(f"rpc-{task.job}-{task.index}"), options=grpc_options.SERVER_OPTIONS)
        self._listener: Listener | None = None
        self._stop_probes: Callable[[], object] = lambda: None
        swept = (self._close_overdue_sessions, self._taskers.close_orphans, self._worker.give_up_late_steps)
        self._sweeper = Sweeper(f"weft-sweep-{task.name}", swept)
        try:
            self._port = bind_task(self._rpc, task, self._admissions.credentials)
        except BaseException:
            self._rpc.stop(None)
            raise
        if start:
            self.start()

    def _make_network(self, worker: Worker) -> TaskNetwork:
        tls = self._admissions.context(is_server=False)
        self._network = TaskNetwork(worker, self._stubs.admit, tls, self._stubs.watch_of)
        return self._network

    @staticmethod
    def create_local_server(config: ConfigProto | None = None, start: bool = True) -> Server:
        """A server that is a cluster by itself, on a free port of this host.

        Args:
            config: the ConfigProto of its sessions.
            start: whether it serves at once.

        Returns:
            A Server.

        >>> with tf.train.Server.create_local_server() as server, tf.Session(server.target) as session:
        ...     print(session.run(tf.constant(3)))
        3

        Raises:
            TypeError: `config` is no ConfigProto.
        """
        if config is not None and not isinstance(config, ConfigProto):
            raise TypeError(f"config must be a tf.ConfigProto, got {config!r} of type {type(config).__name__!r}")
        return Server({"local": ["localhost:0"]}, protocol="grpc", config=config, start=start)

    def __repr__(self) -> str:
        state = "stopped" if self._is_stopping else "started" if self._is_started else "not started"
        return f"<tf.train.Server {self._task.name} at {self.target}, {state}>"

    @property
    def server_def(self) -> tensorflow_server_pb2.ServerDef:
        """The ServerDef of this task."""
        return self._task.definition

    @property
    def target(self) -> str:
        """The target for a session on this server: `grpc://host:port`, with the port that it really has."""
        return f"grpc://{self._task.host}:{self._port}"

    @property
    def port(self) -> int:
        """The port that it really has."""
        return self._port

    @property
    def metrics_port(self) -> int:
        """The port of its metrics; 0 when it has none."""
        return self._observed.metrics_port

    @property
    def incarnation(self) -> int:
        """The number that tells this run of the task from others."""
        return self._worker.incarnation

    def start(self) -> None:
        """Begin to serve. A second call does nothing.

        Raises:
            RuntimeError: the server was stopped.
        """
        with self._lock:
            if self._is_stopping:
                raise RuntimeError(f"Server {self._task.name} was stopped; make a new one")
            if self._is_started:
                return
            self._is_started = True
        spans.look()
        self._observed.open(self._port)
        host = self._task.host
        self._listener = Listener(
            host, 0, receiver=self._task.name, incarnation=self._worker.incarnation,
            has_permission=self._admissions.has_permission,
            on_connection=self._network.peers.accept, on_message=self._network.on_message, on_closed=self._network.on_closed,
            clients=self._calls, advertised_host=host, tls=self._admissions.context(is_server=True),
            tls_name=self._admissions.identity, is_open=self._admissions.is_open, watch_of=self._stubs.watch_of,
        )  # fmt: skip
        gate, incarnation_of = self._admissions.gate(self._port), self._network.peers.incarnation_of
        heard = Announcements(self._task.name, self._stubs, incarnation_of, self._observed.note_address)
        services = (
            MasterService(self._sessions, self, gate),
            WorkerService(self._worker, self, gate, self._taskers, heard.hear),
            StopService(self._task.name, self.stop, gate),
            ObservationService(self._observed, gate),
        )
        self._rpc.add_generic_rpc_handlers([service.handler() for service in services])
        self._health.add_to(self._rpc)
        self._rpc.start()
        self._stop_probes = self._health.serve_probes(os.environ)
        local_servers.add(host, self._port, self)
        self._sweeper.start()
        if self._announcer is not None:
            self._announcer.start()
        _LOG.info("Started server with target: %s", self.target)

    def join(self, ends_with_job: bool | None = None) -> None:
        """Block until the server is stopped, or the training job that it serves has ended; then the program ends, too.

        A job is that of a MonitoredTrainingSession or Supervisor. It has ended when its chief has closed its session and the
        processes of chief and workers have left; a worker that has not come yet is waited for, `lost_job_s` at most. A server
        that nobody has trained on serves on.

        Args:
            ends_with_job: whether to end with the job. By default as the environment's `WEFT_ENDS_WITH_JOB` says (0 or 1);
                without that every task of a cluster does that has others, as parameter servers.

        Raises:
            SystemExit: with the exit code 0: the job is done, and the server is stopped; with that of a signal by which the
                scheduler has announced its end (`weft task`).
            AbortedError: the job has failed, or its chief has left without ending it, and nobody has come back for
                `lost_job_s` of the server's limits. The server is stopped.
            UnauthenticatedError: before anybody has trained, whoever was there of the other tasks had other credentials.
            TypeError: `ends_with_job` is no bool, such as a number of seconds.
        """
        if ends_with_job is not None and not isinstance(ends_with_job, bool):
            raise TypeError(
                f"join: ends_with_job is True, False or None, got {ends_with_job!r}; join() waits without a limit of time"
            )
        tell_launcher(TaskNews(serves=True))
        if ends_with_job is None:
            ends_with_job = os.environ.get(ENDS_WITH_JOB, "0" if self._task.is_alone else "1") != "0"
        if ends_with_job:
            signals = StopSignals()
            signals.begin_leaving()
            signals.arm()
            try:
                # Without credentials nobody refuses this task.
                has_credentials = self._admissions.credentials is not None
                welcome = Welcome(
                    self._stubs.others if has_credentials else (), lambda task, ask_s: self._stubs.of(task).status(ask_s)
                )
                lost_job_s, is_there = self._limits.lost_job_s, self._network.is_there
                job_end = JobEnd(self._worker, is_there, lost_job_s, self._stubs.others, welcome.look)
                job_end.wait(self._stopped, self.stop, signals)
            finally:
                signals.disarm()
        # A wait without a limit cannot be interrupted on every platform.
        while not self._stopped.wait(timeout=3600.0):
            pass

    def stop(self, grace_s: float = 0.0) -> None:
        """Stop serving and free the port: sessions end with AbortedError, steps of others with UnavailableError.

        With a grace the server drains first: new sessions and steps get UnavailableError, which says so, and those steps that
        run have so many seconds to end. Blocks until then, and for a second or so while calls end. A second call does nothing.

        Args:
            grace_s: how long running steps have, in seconds.
        """
        with self._lock:
            if self._is_stopping:
                return
            self._is_stopping = True
        try:
            if grace_s > 0 and self._is_started:
                self._drain(grace_s)
            self._stop_now()
        finally:
            self._stopped.set()

    def _drain(self, grace_s: float) -> None:
        """Take nothing new, and wait for the steps that run."""
        when = f"it takes no new sessions and steps, and stops in {grace_s:g} s at the latest"
        refusal = UnavailableError.of(f"Task {self._task.name} is being drained: {when}")
        self._health.stop_serving()
        self._master.drain(refusal)
        self._worker.drain(refusal)
        deadline_s = time.monotonic() + grace_s
        idle = threading.Event()
        while (self._master.live_steps or self._worker.live_steps or self._calls.live_calls) and time.monotonic() < deadline_s:
            idle.wait(_LOOK_S)

    def _stop_now(self) -> None:
        self._sweeper.stop()
        if self._announcer is not None:
            self._announcer.stop()
        self._observed.close()
        local_servers.remove(self._task.host, self._port)
        self._health.stop_serving()
        self._stop_probes()
        gone = UnavailableError.of(f"Task {self._task.name} is unavailable: its server was stopped")
        self._master.close_sessions(AbortedError.of(f"The server {self._task.name} was stopped"))
        self._worker.stop(gone)
        self._network.close()
        if self._listener is not None:
            self._listener.stop()
        if not self._is_started:
            # gRPC frees the port of a server only that was started.
            self._rpc.start()
        self._rpc.stop(_CALLS_END_S).wait(_CALLS_END_S + 1.0)
        self._stubs.close()

    def _close_overdue_sessions(self) -> None:
        self._sessions.close_overdue(StandingConnections(self._port).has)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # What sessions and peers in this process use.

    def open_session(
        self, graph: Graph, config: ConfigProto | None, raise_if_cancelled: Callable[[], None], timeout_s: float | None = None
    ) -> MasterSession:
        """Open a session on this server's master for a client in this process.

        Args:
            graph: the client's graph.
            config: the session's ConfigProto; None for the server's own.
            raise_if_cancelled: called while it waits for tasks; what it raises ends the wait.
            timeout_s: how long it waits for them; None for ever.

        Returns:
            The master's session, which its client has to close.
        """
        return self._master.open_session(graph, config, raise_if_cancelled, timeout_s)

    def list_state(self) -> list[HeldResource]:
        """What this task keeps between steps: variables, queues, tables and others, sorted by container and name.

        A program that finds the state of another one here can drop it with `tf.Session.reset(server.target, [container])`.
        """
        return self._worker.resources.held()

    @property
    def session_count(self) -> int:
        """How many sessions of clients in other processes are open here."""
        return len(self._sessions)

    def sweep(self) -> None:
        """Close now what nobody owns any more, which happens every few seconds anyway."""
        self._sweeper.sweep()

    def reset(self, containers: Sequence[str]) -> None:
        """Drop containers in the whole cluster.

        Args:
            containers: their names; none of them for all.
        """
        self._master.reset(containers, ())

    @property
    def worker(self) -> Worker:
        """The worker of this task."""
        return self._worker

    # The tensor channel's admission.

    def admission(self, sender: str, session_handle: str = "") -> master_pb2.ChannelAdmission:
        """Where the channel listens, and a token for one connection, of that task or, for "", of the client of a session.

        Args:
            sender: the task that asks; "" for a client.
            session_handle: the client's session.
        """
        assert self._listener is not None
        return master_pb2.ChannelAdmission(
            addresses=self._listener.addresses,
            token=self._admissions.grant(sender, session_handle),
            task=self._task.name,
            incarnation=self._worker.incarnation,
        )

    def add_neighbour(self, worker: Worker) -> None:
        """Hand values for this worker of the same process over, with no transport.

        Args:
            worker: the worker of the other server in this process.
        """
        self._network.add_local(worker)
