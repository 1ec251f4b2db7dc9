"""`python -m weft.compat PROGRAM`: run a program written for TensorFlow, as `weft run` does."""

from __future__ import annotations

import sys

from weft.api.tensorflow_paths import run_as_tensorflow

if len(sys.argv) < 2:
    sys.exit("usage: python -m weft.compat PROGRAM ...")
run_as_tensorflow(sys.argv[1], sys.argv[2:])
