"""tensorflow.python: the modules that programs import by their path inside TensorFlow. Only re-exports."""

from __future__ import annotations

from weft.python import client as client
from weft.python import framework as framework
from weft.python import ops as ops
from weft.python import platform as platform
from weft.python import training as training
from weft.python import util as util
