"""What the training tests share: TensorFlow in a process of its own as the oracle."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

_PREAMBLE = """
import json, os, sys
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
arguments = json.loads(sys.argv[1])
"""


@pytest.fixture
def tensorflow() -> Callable[..., Any]:
    """Runs a script with TensorFlow as `tf`; keyword arguments come in as `arguments`, `result` comes back as JSON."""
    interpreter = os.environ.get("WEFT_ORACLE_PYTHON")
    if not interpreter:
        pytest.skip("WEFT_ORACLE_PYTHON names no Python that has TensorFlow")

    def run(script: str, **arguments: Any) -> Any:
        code = _PREAMBLE + inspect.cleandoc(script) + "\nprint(json.dumps(result))"
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
        command = [interpreter, "-c", code, json.dumps(arguments)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=100)
        assert done.returncode == 0, done.stderr[-4000:]
        return json.loads(done.stdout.splitlines()[-1])

    return run
