"""The methods of TensorFlow's master service, with their requests and responses: what a server answers and a client calls.

Two are weft's own: ExplainCallable, by the handle of a prepared run, and ResumeSession, by a session's handle, for a client
whose connection was cut.
"""

from __future__ import annotations

from typing import Final

from weft.proto import explain_pb2, master_pb2

SERVICE: Final = "tensorflow.MasterService"
SESSION_KEY: Final = "weft-session-bin"
"""The metadata by which a client of weft shows that a session is its own: the token that admitted its connection."""

WEFT_CLIENT: Final = "weft-client-bin"
"""The metadata by which a client that opens a session says that weft built its graph."""

METHODS: Final = {
    name: (getattr(master_pb2, f"{name}Request"), getattr(master_pb2, f"{name}Response"))
    for name in (
        "CreateSession", "ExtendSession", "PartialRunSetup", "RunStep", "CloseSession", "ListDevices", "Reset",
        "MakeCallable", "RunCallable", "ReleaseCallable",
    )
} | {
    "ExplainCallable": (explain_pb2.ExplainCallableRequest, explain_pb2.ExplainCallableResponse),
    "ResumeSession": (master_pb2.CloseSessionRequest, master_pb2.CreateSessionResponse),
}  # fmt: skip
