"""TensorFlowSession: a session on a TensorFlow server, as a client's backend.

Everything goes by TensorFlow's master service over gRPC, values too: a message of that service holds 2 GiB at most.
"""

from __future__ import annotations

import contextlib
import math
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import EncodeError, Message
from tensorboard.compat.proto.config_pb2 import ConfigProto, RunMetadata, RunOptions
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from weft import errors
from weft.distributed.client.sent_graph import SentGraph
from weft.distributed.client.unanswered import Unanswered
from weft.distributed.rpc.master.methods import METHODS, SERVICE
from weft.distributed.rpc.message_size import LIMIT_BYTES, SEND_LESS, too_large
from weft.distributed.rpc.stub import ANSWER_S, RpcStub
from weft.errors import (
    CancelledError,
    DeadlineExceededError,
    NotFoundError,
    OpError,
    ResourceExhaustedError,
    UnimplementedError,
)
from weft.framework.building.aliases import Array
from weft.framework.devices.device_attributes import DeviceAttributes
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import tensor_util
from weft.platform.waits.deadline import holding, within
from weft.platform.waits.wait_watch import Watched
from weft.proto import master_pb2
from weft.runtime.choice.stage_report import StageReport

_CLOSE_S: Final = 2.0
_NODE: Final = re.compile(r"\s*\[\[\{\{node ([^}]+)\}\}[^\]]*\]\]")
# What else the process has logged lately, which has no part in the error.
_LOGGED: Final = re.compile(r"\nRecent warning and error logs:(\n  .*)*")
_UNKNOWN_OP: Final = re.compile(r"Op type not registered '(\w+)'")
_LATER_ATTR: Final = re.compile(r"NodeDef mentions attr '(\w+)' not in")
_TOO_LARGE: Final = "Protobuf is too large to be serialized"
_NAMED: Final = 3


class TensorFlowSession:
    """One client's session on a server of TensorFlow's. Safe from any thread.

    Args:
        target: the server's `host:port`.
        graph: the client's graph; a run's nodes are sent before it.
        config: the session's ConfigProto.
    """

    def __init__(self, target: str, graph: Graph, config: ConfigProto) -> None:
        self._target = target
        self._graph = graph
        self._config = config
        self._peer = f"The TensorFlow server at {target}"
        # To a server of TensorFlow's, frequent pings are an attack: it cuts the connection.
        self._rpc = RpcStub(SERVICE, METHODS, target, "The TensorFlow server", heartbeat_timeout_s=math.inf, answer_s=ANSWER_S)
        self._timeout_s = max(config.operation_timeout_in_ms, 0) / 1000 or None
        self._unanswered = Unanswered(self._peer, self._rpc.probe)
        self._lock = threading.Lock()
        self._sent = SentGraph(graph)
        self._handle = ""
        self._version = 0
        self._closed: OpError | None = None

    def prepare(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        timeout_s: float | None = None,
    ) -> TensorFlowStep:
        """Send the nodes that the run needs; the first one opens the session, which waits for all tasks of the cluster."""
        with within(timeout_s):
            self._synchronise([*feeds, *fetches, *targets])
        return TensorFlowStep(self, feeds, fetches, targets)

    def prepare_partial(
        self, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> TensorFlowPartialRun:
        """Begin a step that is run in pieces, on the server."""
        self._synchronise([*feeds, *fetches, *targets])
        request = master_pb2.PartialRunSetupRequest(
            session_handle=self._handle,
            feed=[t.name for t in feeds],
            fetch=[t.name for t in fetches],
            target=[op.name for op in targets],
        )
        handle = self._call("PartialRunSetup", request, self._timeout_s).partial_run_handle
        return TensorFlowPartialRun(self, handle)

    def run_step(
        self,
        request: master_pb2.RunStepRequest,
        feeds: Mapping[Tensor, Array],
        fetches: Sequence[Tensor],
        timeout_s: float | None = None,
    ) -> tuple[list[Array], RunMetadata | None]:
        """Run a step, or a piece of one, with these feeds; returns the fetched values and the RunMetadata, or None."""
        # TensorFlow refuses a fetch that is fed.
        request.fetch.extend(dict.fromkeys(tensor.name for tensor in fetches if tensor not in feeds))
        request.session_handle = self._handle
        request.store_errors_in_response_body = True
        for tensor, value in feeds.items():
            proto = tensor_util.make_tensor_proto(value, tensor.dtype.base_dtype)
            try:
                request.feed.add(name=tensor.name).tensor.CopyFrom(proto)
            except EncodeError:
                raise too_large(request, [(tensor.name, value.nbytes)], SEND_LESS) from None
        response = self._call("RunStep", request, timeout_s or self._timeout_s)
        if response.status_code:
            raise self._known(errors.from_status(response.status_code, response.status_error_message))
        # The values come in an order of the server's own.
        by_name = {named.name: tensor_util.make_ndarray(named.tensor) for named in response.tensor}
        values = [feeds[tensor] if tensor in feeds else by_name[tensor.name] for tensor in fetches]
        return values, response.metadata if response.HasField("metadata") else None

    def _synchronise(self, elements: Sequence[Tensor | Operation]) -> None:
        """Send the nodes that these need and the server has not, with the session's opening at first."""
        with holding(self._lock, f"the session on {self._target}, which another thread opens or extends"):
            self._raise_if_closed()
            version = self._graph.version
            missing = self._sent.missing(elements)
            if self._handle and self._sent.has_grown():
                # The server holds the variables for all sessions: another one goes on with them.
                missing = self._sent.all_with(missing)
                self._close_there()
                self._sent.forget()
            if self._handle and not missing:
                return
            graph_def = self._sent.graph_def(missing)
            if self._handle:
                self._extend(graph_def)
            else:
                self._open(graph_def)
            self._sent.note_sent(missing, version)

    def _open(self, graph_def: GraphDef) -> None:
        request = master_pb2.CreateSessionRequest(graph_def=graph_def, config=self._config, target=self._target)
        response = self._call("CreateSession", request, self._timeout_s, graph_def)
        self._handle, self._version = response.session_handle, response.graph_version
        if self._closed is not None:
            # Whoever closed it meanwhile found nothing open yet.
            self._close_there()
            raise self._closed

    def _extend(self, graph_def: GraphDef) -> None:
        request = master_pb2.ExtendSessionRequest(
            session_handle=self._handle, graph_def=graph_def, current_graph_version=self._version
        )
        self._version = self._call("ExtendSession", request, self._timeout_s, graph_def).new_graph_version

    def _call(self, name: str, request: Message, timeout_s: float | None, sent: GraphDef | None = None) -> Any:
        """Call a method about the session; `sent` are the nodes that go with it."""
        self._raise_if_closed()
        try:
            with within(timeout_s), self._watched(request):
                return self._rpc.call(name, request)
        except OpError as error:
            self._raise_if_closed()
            if isinstance(error, DeadlineExceededError):
                operations = self._sent.needed(_wanted(request))
                raise DeadlineExceededError.of(f"{error.message}: {self._unanswered.why(operations)}") from error.__cause__
            if _TOO_LARGE in error.message:
                # It says neither of what nor how much.
                raise ResourceExhaustedError.of(
                    f"{error.message}: what {_doing(request)} gives does not fit in a message, which holds {LIMIT_BYTES} bytes "
                    "at most. Fetch less at once, such as slices, or run it on weft's servers"
                ) from error.__cause__
            raise self._known(error, sent) from error.__cause__

    def _watched(self, request: Message) -> Watched:
        """The wait for the answer to a request."""
        if isinstance(request, master_pb2.CreateSessionRequest):
            return self._unanswered.watched(lambda: "opening a session", None)
        return self._unanswered.watched(lambda: _doing(request), lambda: self._sent.needed(_wanted(request)))

    def _known(self, error: OpError, sent: GraphDef | None = None) -> OpError:
        """The error with the node that TensorFlow names at the end of the text, and with the nodes of an op that it lacks."""
        if self._closed is not None and isinstance(error, CancelledError):
            return self._closed
        named = _NODE.search(error.message)
        text = _LOGGED.sub("", _NODE.sub("", error.message))
        unknown = _UNKNOWN_OP.search(text)
        if unknown is not None and sent is not None:
            return self._lacking(unknown[1], sent)
        later = _LATER_ATTR.search(text)
        if later is not None:
            text = (
                f"{text.rstrip('.')}; the TensorFlow server at {self._target} is of a version without the attribute "
                f"{later[1]!r}: leave it at its default, or run what needs it on a weft server or in this process"
            )
        return errors.from_status(error.error_code, text, NodeDef(name=named[1]) if named else None)

    def _lacking(self, op: str, sent: GraphDef) -> NotFoundError:
        nodes = [node for node in sent.node if node.op == op]
        inner = [node for function in sent.library.function for node in function.node_def if node.op == op]
        names = ", ".join(repr(node.name) for node in [*nodes, *inner][:_NAMED])
        more = len(nodes) + len(inner) - _NAMED
        return NotFoundError(
            nodes[0] if nodes else None,
            None,
            f"Op type not registered {op!r} at the TensorFlow server at {self._target}; nodes of it: {names}"
            f"{f' and {more} more' if more > 0 else ''}. It is an op of weft's, or of another version of TensorFlow: run what "
            "needs it on a weft server or in this process",
        )

    def _raise_if_closed(self) -> None:
        if self._closed is not None:
            raise self._closed

    def explain_stages(self) -> list[StageReport]:
        """Only weft's own servers tell of stages; UnimplementedError."""
        raise UnimplementedError.of(f"{self._peer} does not tell how it runs a step; only servers of weft do")

    def list_devices(self) -> list[DeviceAttributes]:
        """The devices of the whole cluster."""
        self._synchronise([])
        request = master_pb2.ListDevicesRequest(session_handle=self._handle)
        response = self._call("ListDevices", request, self._timeout_s)
        devices = [*response.local_device, *response.remote_device]
        return [DeviceAttributes(d.name, d.memory_limit, d.incarnation) for d in sorted(devices, key=lambda d: d.name)]

    def close(self) -> None:
        """End the session on the server; calls that are blocked get CancelledError. Does not wait long."""
        if self._closed is None:
            self._closed = CancelledError.of("Step was cancelled by an explicit call to `Session::Close()`.")
            self._close_there()
            self.abandon()

    def _close_there(self) -> None:
        """Ask the server to end the session, if it has one."""
        handle, self._handle = self._handle, ""
        if handle:
            with contextlib.suppress(OpError):
                self._rpc.call("CloseSession", master_pb2.CloseSessionRequest(session_handle=handle), _CLOSE_S)

    def abandon(self) -> None:
        """Let the connection end. TensorFlow's servers keep a session that nobody closed."""
        self._rpc.close()


def _wanted(request: Message) -> list[str]:
    """The tensors and operations that a request is there for."""
    return [*request.fetch, *request.target] if isinstance(request, master_pb2.RunStepRequest) else []


def _doing(request: Message) -> str:
    wanted = _wanted(request)
    if not wanted:
        return f"answering a {type(request).__name__}"
    more = len(wanted) - _NAMED
    return f"running a step for {', '.join(map(repr, wanted[:_NAMED]))}{f' and {more} more' if more > 0 else ''}"


class TensorFlowStep:
    """A run that a TensorFlow server has the nodes for."""

    def __init__(
        self, session: TensorFlowSession, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> None:
        self._session = session
        self._feeds = list(feeds)
        self._fetches = fetches
        self._targets = [op.name for op in targets]

    def run(self, feeds: Sequence[Array], options: RunOptions | None = None) -> tuple[list[Array], RunMetadata | None]:
        """Run one step there; returns the fetches and the RunMetadata, or None."""
        fed = dict(zip(self._feeds, feeds, strict=True))
        if not self._targets and fed.keys() >= set(self._fetches):
            return [fed[tensor] for tensor in self._fetches], None  # TensorFlow refuses a step that does nothing
        request = master_pb2.RunStepRequest(target=self._targets, options=options)
        timeout_s = options.timeout_in_ms / 1000 if options is not None and options.timeout_in_ms > 0 else None
        return self._session.run_step(request, fed, self._fetches, timeout_s)

    def repeat(self, go_on: Callable[[], bool]) -> None:
        """Run one step there: each further one is asked for."""
        self.run(())

    def explain(self) -> list[StageReport]:
        """Raise UnimplementedError: TensorFlow's servers have no such call."""
        return self._session.explain_stages()


class TensorFlowPartialRun:
    """A step that is run in pieces on a TensorFlow server, which knows it by a handle."""

    def __init__(self, session: TensorFlowSession, handle: str) -> None:
        self._session = session
        self._handle = handle

    def run(self, feeds: Mapping[Tensor, Array], fetches: Sequence[Tensor]) -> list[Array]:
        """Run what these fetches need and has not run."""
        request = master_pb2.RunStepRequest(partial_run_handle=self._handle)
        return self._session.run_step(request, feeds, fetches)[0]
