"""tensorflow.python.client, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.python.client import device_lib as device_lib
from weft.python.client import session as session
from weft.python.client import timeline as timeline
