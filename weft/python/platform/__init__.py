"""tensorflow.python.platform, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.python.platform import app as app
from weft.python.platform import flags as flags
from weft.python.platform import gfile as gfile
from weft.python.platform import tf_logging as tf_logging
