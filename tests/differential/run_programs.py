"""Run the programs of catalogues with weft or TensorFlow and write what each printed, as one JSON object by name.

Programs find `tf`, `np`, `os`, `tempfile`, `E`, which calls a function and prints its result or the class of its error, `M`,
which also prints the first line of the error's message, `each`, which runs programs of one line, and `rnn_cell`:
tf.nn.rnn_cell, which later TensorFlows keep elsewhere.
It is run as a script, by the interpreter of either: `run_programs.py weft|tensorflow`; TensorFlow 1.15's is Python 3.7, which
knows no `X | Y` of types outside annotations. It loads the library, which takes longer
than most programs, and runs each catalogue that a line of the standard input asks for, `CATALOGUE RESULT`, in a copy of itself:
what the programs of one leave behind, none of another finds. RESULT is the file for the object, in the folder where the
programs run; the answer, a line, is `ended`, the catalogue's name and the copy's exit code.
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
import traceback
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


def tell(function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print the result of a call, or the class of the error that it raises and the first line of its message."""
    try:
        print("OK", function(*args, **kwargs))
    except Exception as error:
        print(type(error).__name__, *str(error).splitlines()[:1])


_GENERATOR = np.random.RandomState(0)
_FLOATS = {
    "f": (6,),
    "m": (3, 4),
    "n": (4, 5),
    "b3": (2, 3, 4),
    "p": (3, 4),
    "u": (2, 3),
    "e": (0, 4),
    "sc": (),
    "im": (2, 6, 6, 3),
}
VALUES: dict[str, Any] = {
    "im": _GENERATOR.rand(2, 6, 6, 3).astype(np.float32),
    **{name: np.asarray(_GENERATOR.randn(*shape), np.float32) for name, shape in _FLOATS.items()},
    "sq": _GENERATOR.randn(3, 3) + 3 * np.eye(3),
    "i": np.array([3, -1, 4, 1, -5, 9], np.int32),
    "l": np.array([3, -1, 4, 1, -5, 9], np.int64),
    "z": (_GENERATOR.randn(4) + 1j * _GENERATOR.randn(4)).astype(np.complex64),
    "t": np.array([True, False, True]),
    "h": _GENERATOR.randn(4).astype(np.float16),
    "s": np.array([b"b", b"a", b"hello world", b""], object),
}
_STATIC_SHAPES: dict[str, Any] = {"u": None, "p": (None, 4)}


def runner_of_lines(tf: Any) -> Callable[..., None]:
    """`each(*lines)`: run programs of one line, each in a graph, and print type, shape and value, or the error's class.

    They find the placeholders of VALUES (`u` of unknown shape, `p` of unknown length), `c` for tf.constant, `ph` for
    tf.placeholder, `grads` for tf.gradients and `grad(y, x)`. `;;` separates statements before the expression.
    """

    def each(*lines: str) -> None:
        for line in lines:
            with tf.Graph().as_default():
                names = {
                    key: tf.placeholder(
                        tf.string if value.dtype == object else value.dtype, _STATIC_SHAPES.get(key, value.shape)
                    )
                    for key, value in VALUES.items()
                }
                feeds = {names[key]: value for key, value in VALUES.items()}
                names.update(tf=tf, np=np, c=tf.constant, ph=tf.placeholder, grads=tf.gradients)
                names["grad"] = lambda y, x: tf.gradients(y, x)[0]
                first, _, last = line.rpartition(" ;; ")
                try:
                    exec(first.replace(" ;; ", "\n"), names)
                    made = eval(last, names)
                    if isinstance(made, (str, int)):
                        print(line, made)
                        continue
                    with tf.Session() as session:
                        session.run(tf.global_variables_initializer())
                        print(line, _kind(made), _shown(session.run(made, feeds)))
                except Exception as error:
                    print(line, type(error).__name__)

    return each


def _kind(made: Any) -> Any:
    if isinstance(made, (list, tuple)):
        return [_kind(item) for item in made]
    return made.dtype.name, str(made.get_shape())


def _shown(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_shown(item) for item in value]
    array = np.asarray(value)
    if array.dtype.kind not in "fcV":
        return array.tolist()
    return np.round(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64), 3).tolist()


def _library(name: str) -> Any:
    if name == "tensorflow":
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        # Only the oracle's interpreter has it; the original, which has contrib, is itself.
        tf = importlib.import_module("tensorflow")
        if tf.__version__.startswith("2."):
            tf = tf.compat.v1
            tf.disable_v2_behavior()
            tf.disable_resource_variables()
    else:
        tf = importlib.import_module("weft")
        # The first step would load it, in each copy.
        importlib.import_module("jax")
    tf.logging.set_verbosity(tf.logging.ERROR)
    return tf


def _rnn_cells(name: str, tf: Any) -> Any:
    if name == "tensorflow" and tf.__version__.startswith("2."):
        return importlib.import_module("tensorflow.python.keras.layers.legacy_rnn.rnn_cell_impl")
    return tf.nn.rnn_cell


def _checks(name: str) -> contextlib.AbstractContextManager[None]:
    """The validation of what weft's passes make, while the programs run."""
    if name == "weft":
        return importlib.import_module("weft.testing.checked_passes").checked_passes()
    return contextlib.nullcontext()


def _printed(library: str, tf: Any, catalogue: Path) -> dict[str, str]:
    """What each program of a catalogue prints."""
    printed, each, cells = {}, runner_of_lines(tf), _rnn_cells(library, tf)
    for name, source in load(catalogue).items():
        tf.reset_default_graph()
        names = {
            "tf": tf, "np": np, "os": os, "tempfile": tempfile, "E": attempt, "M": tell, "each": each, "rnn_cell": cells,
            "__name__": "program",
        }  # fmt: skip
        with contextlib.redirect_stdout(io.StringIO()) as output, _checks(library):
            try:
                exec(compile(source, name, "exec"), names)
            except Exception as error:
                print("RAISED", type(error).__name__, error)
        printed[name] = output.getvalue()
    return printed


def _run_apart(library: str, tf: Any, catalogue: Path, result: Path) -> int:
    """Run a catalogue in a copy of this process, where the result will lie; returns the exit code of that."""
    process_id = os.fork()
    if process_id:
        status = os.waitpid(process_id, 0)[1]
        # Python 3.7, which TensorFlow 1.15 needs, has no `waitstatus_to_exitcode`.
        return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
    code = 1
    try:
        os.chdir(result.parent)  # programs leave files where they are run
        result.write_text(json.dumps(_printed(library, tf, catalogue)), encoding="utf-8")
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        # A program may leave servers and threads behind.
        os._exit(code)


def _main() -> None:
    warnings.simplefilter("ignore")
    library = sys.argv[1]
    tf = _library(library)
    np.set_printoptions(precision=4, suppress=True)
    for line in sys.stdin:
        catalogue, result = line.split()
        print("ended", Path(catalogue).stem, _run_apart(library, tf, Path(catalogue), Path(result)), flush=True)


if __name__ == "__main__":
    _main()
