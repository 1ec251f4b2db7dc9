"""Run the programs of a catalogue with weft or TensorFlow and print what each printed, as one JSON object by name.

Programs find `tf`, `np`, `os`, `tempfile` and `E`, which calls a function and prints its result or the class of its error.
It is run as a script, by the interpreter of either: `run_programs.py weft|tensorflow CATALOGUE`.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def load(catalogue: Path) -> dict[str, str]:
    """The programs of a catalogue by name; each begins with a line `### name`."""
    parts = re.split(r"^### ", catalogue.read_text(encoding="utf-8"), flags=re.M)[1:]
    return {name: source for name, _, source in (part.partition("\n") for part in parts)}


def attempt(function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print the result of a call, or the class of the error that it raises."""
    try:
        print("OK", function(*args, **kwargs))
    except Exception as error:
        print(type(error).__name__)


def _library(name: str) -> Any:
    if name == "tensorflow":
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        # Only the oracle's interpreter has it.
        tf = importlib.import_module("tensorflow.compat.v1")
        tf.disable_v2_behavior()
        tf.disable_resource_variables()
    else:
        tf = importlib.import_module("weft")
    tf.logging.set_verbosity(tf.logging.ERROR)
    return tf


def _main() -> None:
    warnings.simplefilter("ignore")
    tf = _library(sys.argv[1])
    np.set_printoptions(precision=4, suppress=True)
    printed = {}
    for name, source in load(Path(sys.argv[2])).items():
        tf.reset_default_graph()
        names = {"tf": tf, "np": np, "os": os, "tempfile": tempfile, "E": attempt, "__name__": "program"}
        with contextlib.redirect_stdout(io.StringIO()) as output:
            try:
                exec(compile(source, name, "exec"), names)
            except Exception as error:
                print("RAISED", type(error).__name__, error)
        printed[name] = output.getvalue()
    print(json.dumps(printed), flush=True)
    # A program may leave servers and threads behind.
    os._exit(0)


if __name__ == "__main__":
    _main()
