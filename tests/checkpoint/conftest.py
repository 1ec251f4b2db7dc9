"""What the checkpoint tests share: values of every type, and TensorFlow in a process of its own as the oracle."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import subprocess
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest


def describe(array: Any) -> dict[str, Any]:
    """What two implementations must agree on: type, shape and contents. Its source runs in the oracle's process too."""
    # A scalar string comes from TensorFlow as plain bytes, of which NumPy makes an array of fixed width.
    array = array.astype(object) if array.dtype.kind == "S" else array
    strings = array.dtype == object
    data = b"".join(b"%d:%s" % (len(s), s) for s in array.ravel()) if strings else array.tobytes()
    return {"dtype": str(array.dtype), "shape": list(array.shape), "digest": hashlib.sha256(data).hexdigest()}


@pytest.fixture(name="describe")
def _describe() -> Callable[[Any], dict[str, Any]]:
    return describe


@pytest.fixture
def values() -> dict[str, Any]:
    """A tensor of every type that a checkpoint may hold, and the shapes that are special."""
    rng = np.random.default_rng(7)
    numbers = rng.standard_normal((3, 5)) * 50
    kinds = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
    found = {kind: np.abs(numbers).astype(kind) for kind in kinds}
    found["bfloat16"] = numbers.astype(ml_dtypes.bfloat16)
    found["bool"] = numbers > 0
    found["complex64"] = (numbers + 1j * numbers).astype(np.complex64)
    found["complex128"] = numbers - 2j * numbers
    found["string"] = np.array([[b"", b"weft"], [b"\0\xff" * 200, "für".encode()]], object)
    found["scalar"] = np.array(1.5, np.float32)
    found["string_scalar"] = np.array(b"one", object)
    found["empty"] = np.zeros((0, 3), np.float32)
    found["no_strings"] = np.zeros((0,), object)
    found["scope/name:with-odd_chars.é"] = np.arange(7, dtype=np.int64)
    return found


_PREAMBLE = """
import hashlib, json, os, sys
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
        describing = "from typing import Any\n" + inspect.getsource(describe)
        code = _PREAMBLE + describing + inspect.cleandoc(script) + "\nprint(json.dumps(result))"
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
        command = [interpreter, "-c", code, json.dumps(arguments)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=100)
        assert done.returncode == 0, done.stderr[-4000:]
        return json.loads(done.stdout.splitlines()[-1])

    return run
