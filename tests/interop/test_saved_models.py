"""SavedModels that weft, TensorFlow 1.15 and TensorFlow 2.21 write give the same wherever they are loaded."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests import tensorflows

pytestmark = [pytest.mark.oracle, pytest.mark.slow, pytest.mark.timeout(900)]

_ROOT: Final = Path(__file__).parents[2]
_FOLDER: Final = Path(__file__).parent / "saved_models"
_LIBRARIES: Final = ["weft", *sorted(tensorflows.VARIABLES)]


def _run(library: str, action: str, folder: Path, catalogue: str) -> dict[str, Any]:
    own = library == "weft"
    python = sys.executable if own else tensorflows.interpreter(library)
    path = str(_ROOT) if own else ""
    command = [python, str(_FOLDER / "run.py"), "weft" if own else "tensorflow", action, str(folder), str(_FOLDER / catalogue)]
    environment = {**tensorflows.environment(), "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, env=environment)
    found: dict[str, Any] = dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))
    assert found, done.stderr[-2000:]
    return found


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], tuple[Path, dict[str, Any]]]:
    """The folder of what a library wrote of a catalogue, and what came of each program; each is written once."""
    made: dict[tuple[str, str], tuple[Path, dict[str, Any]]] = {}

    def write(library: str, catalogue: str) -> tuple[Path, dict[str, Any]]:
        if (library, catalogue) not in made:
            folder = tmp_path_factory.mktemp(library)
            made[library, catalogue] = folder, _run(library, "write", folder, catalogue)
        return made[library, catalogue]

    return write


def _is_close(own: Any, found: Any) -> bool:
    if isinstance(own, list) and isinstance(found, list):
        return len(own) == len(found) and all(map(_is_close, own, found))
    if isinstance(own, dict) and isinstance(found, dict):
        return own.keys() == found.keys() and all(_is_close(own[key], found[key]) for key in own)
    if isinstance(own, float) and isinstance(found, float):
        return bool(own == pytest.approx(found, rel=1e-3, abs=1e-4, nan_ok=True))
    return bool(own == found)


# The oldest reads what is as old only, as everywhere.
@pytest.mark.parametrize(
    ("writer", "reader"),
    [
        (writer, reader)
        for writer in _LIBRARIES
        for reader in _LIBRARIES
        if writer != reader and (writer, reader) != ("2.21", "1.15")
    ],
)
def test_a_model_gives_the_same_to_another_library(written: Any, writer: str, reader: str) -> None:
    folder, programs = written(writer, "models.txt")
    if writer != "2.21":  # which has lost estimators and layers
        assert {name: each for name, each in programs.items() if "error" in each} == {}
    here = _run(writer, "read", folder, "models.txt")
    there = _run(reader, "read", folder, "models.txt")
    names = [name for name, each in programs.items() if "written" in each]
    assert len(names) >= 12
    assert {name: [here[name], there[name]] for name in names if "read" not in here[name]} == {}
    assert {name: [here[name], there[name]] for name in names if not _is_close(here[name], there[name])} == {}


@pytest.mark.parametrize("writer", sorted(tensorflows.VARIABLES))
def test_what_a_module_of_tensorflow_2_gave_its_saved_graph_gives_in_weft(written: Any, writer: str) -> None:
    folder, programs = written(writer, "modules.txt")
    there = _run("weft", "read", folder, "modules.txt")
    expected = {name: each["expected"] for name, each in programs.items() if "written" in each}
    assert len(expected) >= 8 - (writer == "1.15")
    assert {name: [each, there[name]] for name, each in expected.items() if not _is_close({"read": each}, there[name])} == {}
