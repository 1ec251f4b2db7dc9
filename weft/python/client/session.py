"""tensorflow.python.client.session, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.client.conversions import (
    register_session_run_conversion_functions as register_session_run_conversion_functions,
)
from weft.client.session import BaseSession as BaseSession
from weft.client.session import InteractiveSession as InteractiveSession
from weft.client.session import Session as Session
