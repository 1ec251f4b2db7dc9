"""OpErrors as gRPC statuses and back.

The codes are the same numbers. The node that failed is named twice: in trailing metadata for weft's clients, and in a
bracket at the end of the text, where TensorFlow's clients look for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

from google.protobuf.message import DecodeError
from tensorboard.compat.proto import node_def_pb2

from weft import errors
from weft.credentials.cluster_token import FILE_VARIABLE
from weft.credentials.credentials import FOLDER_VARIABLE
from weft.errors import DeadlineExceededError, InternalError, InvalidArgumentError, OpError, UnavailableError
from weft.platform.imports.grpc_modules import grpc
from weft.platform.logs.limited_log import peer_log

# Tells the status of a handler from one that gRPC itself made, such as that of a lost connection.
_MARK: Final = "weft-status"
_NODE_KEY: Final = "weft-node-bin"
# gRPC refuses trailers of more than 8 KiB. Other characters than printable ASCII take three bytes there.
_MAX_DETAILS_BYTES: Final = 4096

STANDS_STILL: Final = "its process stands still, or nothing gets there and back"
"""Of a peer whose connection stands and from which nothing comes."""
_CLOSED: Final = r"failed to connect .*Socket closed"
_CREDENTIALS: Final = f"set {FILE_VARIABLE} or {FOLDER_VARIABLE} to those of its cluster"
_CLOCKS: Final = "look at the clocks of both hosts"
# What gRPC says where the credentials of the two ends do not fit, and what that means.
_MISFITS: Final = {
    r"certificate has expired": f"its certificate has expired: weft credentials issue makes new ones, or {_CLOCKS}",
    r"certificate is not yet valid": f"its certificate is not valid yet, so a clock is wrong: {_CLOCKS}",
    r"CERTIFICATE_VERIFY_FAILED": f"it belongs to a cluster with other credentials than this process has: {_CREDENTIALS}",
    r"WRONG_VERSION_NUMBER": "it has no credentials of a cluster's, and this process has; or it is no task",
}
# The same where the port itself was asked.
HAS_NONE: Final = f"it takes holders of its cluster's credentials only, and this process has none: {_CREDENTIALS}"
TUNNEL: Final = (
    "the server of another host stands behind this port, as through a tunnel, and takes holders of its cluster's credentials "
    "only, by its own address: run this on a host of the cluster (ssh HOST weft ...)"
)
# The same of a peer that cannot be reached, for whatever reason.
_MEANINGS: Final = {
    r"ping timeout|before receiving SETTINGS": STANDS_STILL,
    r"Connection refused": "nothing listens there: is its process running, at that port?",
    r"Domain name not found": "its name does not resolve: correct it, or the name service of this host",
    **_MISFITS,
    _CLOSED: f"it takes holders of its cluster's credentials only, or is no task: {_CREDENTIALS}",
}

T = TypeVar("T")


def answer(context: Any, what: str, handle: Callable[[], T]) -> T:
    """Run a request's handler; an exception ends the call with its status, and the server goes on."""
    try:
        return handle()
    except OpError as error:
        _fail(context, error)
    except (ValueError, TypeError, LookupError, DecodeError) as error:
        peer_log.info("%s refused a request: %s", what, error, exc_info=True)
        _fail(context, InvalidArgumentError.of(f"{what}: {error}"))
    except Exception as error:
        peer_log.exception("%s failed", what)
        _fail(context, InternalError.of(f"{what}: {type(error).__name__}: {error}"))
    raise AssertionError("unreachable: abort raises")


def _fail(context: Any, error: OpError) -> None:
    name = node_name(error)
    context.set_trailing_metadata(((_MARK, "1"), (_NODE_KEY, name.encode())) if name else ((_MARK, "1"),))
    bracket = _bracket(name)
    details = _shortened(error.message, _MAX_DETAILS_BYTES - _sent_size(bracket)) + bracket
    codes = {code.value[0]: code for code in grpc.StatusCode}
    context.abort(codes.get(error.error_code, grpc.StatusCode.UNKNOWN), details)


def is_misfit(error: OpError) -> bool:
    """Whether a call failed as the credentials of the two ends do not fit: only another start of one of them changes that."""
    return isinstance(error, UnavailableError) and any(
        f" is unavailable: {each}" in error.message for each in (*_MISFITS.values(), HAS_NONE, TUNNEL)
    )


def node_name(error: OpError) -> str:
    """The name of the node that an error is about, or ''."""
    if error.op is not None:
        return str(error.op.name)
    return str(error.node_def.name) if error.node_def is not None else ""


def text_with_node(error: OpError) -> str:
    """The error's message with its node in the bracket by which TensorFlow's clients find the operation."""
    return error.message + _bracket(node_name(error))


def _bracket(name: str) -> str:
    return f"\n\t [[{{{{node {name}}}}}]]" if name else ""


def _sent_size(text: str) -> int:
    return sum(1 if 0x20 <= byte <= 0x7E else 3 for byte in text.encode(errors="replace"))


def _shortened(text: str, limit: int) -> str:
    """The text, or as much of its beginning as takes at most `limit` bytes in a trailer."""
    if _sent_size(text) <= limit:
        return text
    note = " ... (shortened)"
    low, high = 0, min(len(text), limit)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _sent_size(text[:middle] + note) <= limit else (low, middle - 1)
    return text[:low] + note


def is_closed_in_the_making(error: grpc.RpcError) -> bool:
    """Whether a call failed as the peer closes connections at once: one that wants credentials does, and others may, too."""
    return error.code() is grpc.StatusCode.UNAVAILABLE and re.search(_CLOSED, error.details() or "") is not None


def from_rpc_error(error: Any, peer: str, method: str = "", *, meant: str = "") -> OpError:
    """The OpError of a failed call: as the peer raised it, or naming the peer when gRPC itself failed.

    Args:
        error: gRPC's.
        peer: who was called.
        method: which of its methods.
        meant: what it means, where the port itself was asked: HAS_NONE or TUNNEL.
    """
    code = error.code()
    message = error.details() or code.name
    metadata = dict(error.trailing_metadata() or ())
    if _MARK not in metadata:
        return _transport_error(code, message, peer, method, meant)
    name = metadata.get(_NODE_KEY, b"").decode()
    node_def = node_def_pb2.NodeDef(name=name) if name else None
    return errors.from_status(code.value[0], message.removesuffix(_bracket(name)), node_def)


def _transport_error(code: grpc.StatusCode, message: str, peer: str, method: str, meant: str) -> OpError:
    if code is grpc.StatusCode.UNAVAILABLE:
        meant = meant or next((text for pattern, text in _MEANINGS.items() if re.search(pattern, message)), "")
        return UnavailableError.of(f"{peer} is unavailable: {f'{meant} ({message})' if meant else message}")
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return DeadlineExceededError.of(f"{peer} did not answer in time{f' ({method})' if method else ''}: {message}")
    return errors.from_status(code.value[0], f"{peer}: {message}")
