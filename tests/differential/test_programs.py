"""Small programs print with weft what they print with TensorFlow.

The catalogues in `programs/` hold the programs, `expected/` what TensorFlow and weft both print, so that the comparison needs
no TensorFlow; the tests marked `oracle` run the programs with TensorFlow itself.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests import tensorflows
from tests.differential.run_programs import load
from weft.runtime.state.session_state import DETERMINISM_VARIABLE

# The first test of a catalogue waits for all of its programs.
pytestmark = pytest.mark.timeout(300)

_HERE = Path(__file__).parent
_PROGRAMS = [(path.stem, name) for path in sorted((_HERE / "programs").glob("*.txt")) for name in load(path)]
# The one that weft follows first: where it agrees the other is not asked, which takes minutes for some catalogues.
_ORACLES = [found for version in ("1.15", "2.21") if (found := os.environ.get(tensorflows.VARIABLES[version]))]

# Here the oracle, a later TensorFlow, differs from the 1.x that weft follows, or weft refuses with a clearer error.
_UNLIKE_THE_ORACLE = frozenset(
    (
        "autopack", "clusterspec", "devices", "dtype_conv", "dtypes", "feeds", "gradients_basic", "gradients_sparse",
        "callables", "cluster_basic", "error_classes", "feeds_of_every_form", "fetches_of_every_form",
        "make_callable", "moving_averages",
        "op_numbers_4", "op_random_and_names_6", "ops_1", "operators", "opt_errors", "queues",
        # TensorFlow 1.15 gives another row's elements there.
        "ragged_gathers_beyond_a_row",
        "servers",
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
    "keras_strategies", "keras_tools", "learn_estimators", "names_and_seeds", "pruned_training", "py_functions",
    "quantized_training", "refusals",
    "result_names", "sequence_models", "unrolled_sequences",
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


def _with_sorted_attrs(lines: Iterable[str]) -> list[str]:
    """The lines, those of each attribute of a printed node in the order of the attributes: protobuf keeps them in none."""
    found: list[str] = []
    attrs: list[list[str]] = []
    depth = 0
    for line in lines:
        if depth == 0 and line != "attr {":
            found += itertools.chain(*sorted(attrs))
            attrs = []
            found.append(line)
            continue
        if depth == 0:
            attrs.append([])
        attrs[-1].append(line)
        depth += line.endswith("{") - (line == "}")
    return [*found, *itertools.chain(*sorted(attrs))]


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
    return _with_sorted_attrs(line.strip() for line in lines if line.strip())


class Runner:
    """An interpreter that has loaded a library and runs catalogues with it, each in a copy of its process.

    Args:
        interpreter: the Python.
        library: `weft` or `tensorflow`.
        folder: an empty one, for results and what programs leave.
    """

    def __init__(self, interpreter: str, library: str, folder: Path) -> None:
        path = os.pathsep.join(filter(None, [str(_HERE.parents[1]), os.environ.get("PYTHONPATH")])) if library == "weft" else ""
        # As programs run: compiling every step at once takes four times as long, and digits that it changes are not compared.
        environment = {name: value for name, value in os.environ.items() if name != DETERMINISM_VARIABLE}
        self._folder = folder
        self._errors = folder / "errors"
        self._results: dict[str, dict[str, str]] = {}
        with self._errors.open("w") as errors:
            self._process = subprocess.Popen(
                [interpreter, str(_HERE / "run_programs.py"), library],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**environment, "PYTHONPATH": path},
                cwd=folder,
            )

    def printed(self, catalogue: str) -> dict[str, str]:
        """What each program of a catalogue prints; they run once."""
        if catalogue not in self._results:
            self._results[catalogue] = self._run(catalogue)
        return self._results[catalogue]

    def _run(self, catalogue: str) -> dict[str, str]:
        own = self._folder / catalogue
        own.mkdir(exist_ok=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{_HERE / 'programs' / catalogue}.txt {own / 'result.json'}\n")
        self._process.stdin.flush()
        # Other lines are what a program wrote past Python, and of a catalogue that a test did not wait for to the end.
        answer = next((line for line in self._process.stdout if line.startswith(f"ended {catalogue} ")), "")
        assert answer == f"ended {catalogue} 0\n", self._errors.read_text(errors="replace")[-2000:]
        result: dict[str, str] = json.loads((own / "result.json").read_text(encoding="utf-8"))
        return result

    def close(self) -> None:
        """End the process, also one that runs a catalogue."""
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="module")
def weft_runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    runner = Runner(sys.executable, "weft", tmp_path_factory.mktemp("weft"))
    yield runner
    runner.close()


@pytest.fixture(scope="module")
def oracle_runners(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Runner]]:
    runners = [Runner(each, "tensorflow", tmp_path_factory.mktemp("oracle")) for each in _ORACLES]
    yield runners
    for runner in runners:
        runner.close()


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
def test_a_program_prints_what_is_expected(weft_runner: Runner, catalogue: str, program: str) -> None:
    expected = normal(load(_HERE / "expected" / f"{catalogue}.txt")[program])
    assert _familiar(normal(weft_runner.printed(catalogue)[program]), expected) == expected


@pytest.mark.oracle
@pytest.mark.skipif(not _ORACLES, reason="WEFT_ORACLE_PYTHON and WEFT_ORACLE_PYTHON_1 name no Python that has TensorFlow")
@pytest.mark.parametrize(
    ("catalogue", "program"),
    [each for each in _PROGRAMS if each[0] not in _NOT_IN_THE_ORACLE and each[1] not in _UNLIKE_THE_ORACLE],
)
def test_a_program_prints_what_it_prints_with_tensorflow(
    weft_runner: Runner, oracle_runners: list[Runner], catalogue: str, program: str
) -> None:
    """With one of the TensorFlows that there are: contrib is in 1.15 alone, and each has words of its own in some errors."""
    ours = normal(weft_runner.printed(catalogue)[program])
    for runner in oracle_runners:
        expected = normal(runner.printed(catalogue)[program])
        found = _familiar(ours, expected)
        if found == expected:
            return
    assert found == expected
