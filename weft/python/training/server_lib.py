"""tensorflow.python.training.server_lib, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.distributed.server import Server as Server
from weft.framework.cluster_spec import ClusterSpec as ClusterSpec
