"""The shells around the protocol: gRPC services, the tensor channel's sockets and threads, the master, the server."""

from __future__ import annotations

import os

# gRPC writes to stderr what weft reports as errors of its own (a port in use, a peer that is gone, a fork). It reads this when
# it is loaded, which is by the modules below.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
# A forked child inherits its parent's epoll instances, and gets events there of what its parent and siblings opened: gRPC then
# aborts. Notebooks fork. gRPC carries control messages only, for which poll is as fast.
os.environ.setdefault("GRPC_POLL_STRATEGY", "poll")
