"""Small programs print with weft what they print with TensorFlow.

The catalogues in `programs/` hold the programs, `expected/` what TensorFlow and weft both print, so that the comparison needs
no TensorFlow; the tests marked `oracle` run the programs with TensorFlow itself.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.differential.run_programs import load

_HERE = Path(__file__).parent
_PROGRAMS = [(path.stem, name) for path in sorted((_HERE / "programs").glob("*.txt")) for name in load(path)]
_ORACLE = os.environ.get("WEFT_ORACLE_PYTHON", "")

# Here the oracle, a later TensorFlow, differs from the 1.x that weft follows, or weft refuses with a clearer error.
_UNLIKE_THE_ORACLE = frozenset(
    (
        "autopack", "clusterspec", "devices", "dtype_conv", "dtypes", "feeds", "gradients_basic", "gradients_sparse",
        "callables", "cluster_basic", "error_classes", "feeds_of_every_form", "fetches_of_every_form",
        "make_callable", "moving_averages",
        "op_numbers_4", "op_random_and_names_6", "ops_1", "operators", "opt_errors", "queues", "servers",
        "starting_from_another_vocabulary", "while_shapes",
    )
)  # fmt: skip

# Later TensorFlows have no estimators and no contrib, other branches, and other names, types and orders of datasets; these were
# compared with 1.15.5.
_NOT_IN_THE_ORACLE = frozenset((
    "beam_search", "bijectors",
    "branches", "canned_estimators", "conditional_fields", "contributed_cells", "contributed_cells_with_parts",
    "contributed_cudnn", "contributed_distributions", "contributed_heads", "contributed_images", "contributed_layers",
    "contributed_metrics", "contributed_small_parts", "contributed_summaries", "contributed_texts", "data", "estimator_heads",
    "estimator_loops", "estimators", "graph_editor", "graphs_and_state", "keras_applications", "library_parts",
    "keras_strategies", "keras_tools", "learn_estimators", "py_functions", "refusals", "result_names", "sequence_models",
    "unrolled_sequences",
))  # fmt: skip

# Names that later TensorFlows gave to the same things, and what differs from run to run.
_SPELLINGS = (
    (r"\bPatternError\b", "error"),  # from Python 3.13 on
    (r"OperatorNotAllowedInGraphError", "TypeError"),
    (r"SymbolicTensor", "Tensor"),
    (r"AddV2", "Add"),
    (r"BatchMatMulV2", "BatchMatMul"),
    (r"tensorflow\.python\.(\w+\.)+|weft\.(\w+\.)*", ""),
    (r"<tf\.train\.(\w+) [^>]*>", r"<\1 object at 0x>"),
    (r"0x[0-9a-f]+", "0x"),
    (re.escape(str(Path("/tmp"))) + r"/\w+", "TMP"),
    (r"np\.\w+\(([^()]*)\)", r"\1"),
    (r"[ \t]+", " "),
    (r"\[ +", "["),
)


def _rounded(number: re.Match[str]) -> str:
    value = float(number.group())
    return f"{value:.3g}" if abs(value) > 1e-6 else "0"


def normal(text: str) -> list[str]:
    """The lines of a program's output without what may differ."""
    for pattern, replacement in _SPELLINGS:
        text = re.sub(pattern, replacement, text)
    text = re.sub(r"-?\d+\.\d*(e[-+]\d+)?", _rounded, text)
    # Each Python shows an ordered dictionary in its own way: as pairs up to 3.11.
    lines = (re.sub(r"[()\[\]{}:, ]+", " ", line) if "OrderedDict" in line else line for line in text.splitlines())
    return [line.strip() for line in lines if line.strip()]


@functools.cache
def _printed(interpreter: str, library: str, catalogue: str) -> dict[str, str]:
    command = [interpreter, str(_HERE / "run_programs.py"), library, str(_HERE / "programs" / f"{catalogue}.txt")]
    path = os.pathsep.join(filter(None, [str(_HERE.parents[1]), os.environ.get("PYTHONPATH")])) if library == "weft" else ""
    environment = {**os.environ, "PYTHONPATH": path}
    # The programs leave files where they are run.
    with tempfile.TemporaryDirectory() as directory:
        run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment, cwd=directory)
    assert run.returncode == 0, run.stderr[-2000:]
    result: dict[str, str] = json.loads(run.stdout.splitlines()[-1])
    return result


def _familiar(ours: list[str], theirs: list[str]) -> list[str]:
    """Our lines as far as TensorFlow's words go: after the words of its errors weft may have told more."""
    pairs = itertools.zip_longest(ours, theirs, fillvalue="")
    return [theirs_ if _tells_more(ours_, theirs_) else ours_ for ours_, theirs_ in pairs]


def _tells_more(ours: str, theirs: str) -> bool:
    is_error = theirs.partition(" ")[0].endswith("Error") and " " in theirs
    return (is_error and re.match(rf"{re.escape(theirs)}[.,:;]? ", ours) is not None) or (
        theirs.endswith((".", "?")) and ours.startswith(f"{theirs} ")
    )


@pytest.mark.parametrize(("catalogue", "program"), _PROGRAMS)
def test_a_program_prints_what_is_expected(catalogue: str, program: str) -> None:
    expected = normal(load(_HERE / "expected" / f"{catalogue}.txt")[program])
    assert _familiar(normal(_printed(sys.executable, "weft", catalogue)[program]), expected) == expected


@pytest.mark.oracle
@pytest.mark.skipif(not _ORACLE, reason="WEFT_ORACLE_PYTHON names no Python that has TensorFlow")
@pytest.mark.parametrize(
    ("catalogue", "program"),
    [each for each in _PROGRAMS if each[0] not in _NOT_IN_THE_ORACLE and each[1] not in _UNLIKE_THE_ORACLE],
)
def test_a_program_prints_what_it_prints_with_tensorflow(catalogue: str, program: str) -> None:
    ours, theirs = _printed(sys.executable, "weft", catalogue), _printed(_ORACLE, "tensorflow", catalogue)
    expected = normal(theirs[program])
    assert _familiar(normal(ours[program]), expected) == expected
