"""tensorflow.python.client.timeline, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.client.timeline import Timeline as Timeline
