"""Programs find on a server what they find in their own process: TensorFlow's clients on weft's, weft's on TensorFlow's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

import weft
from tests import tensorflows
from weft.distributed.server.server import Server

pytestmark = [pytest.mark.oracle, pytest.mark.slow, pytest.mark.timeout(900)]

_FOLDER: Final = Path(__file__).parent / "tensorflow_programs"


def _is_close(own: Any, found: Any) -> bool:
    if isinstance(own, list) and isinstance(found, list):
        return len(own) == len(found) and all(map(_is_close, own, found))
    if isinstance(own, dict) and isinstance(found, dict):
        return own.keys() == found.keys() and all(_is_close(own[key], found[key]) for key in own)
    if isinstance(own, float) and isinstance(found, float):
        return bool(own == pytest.approx(found, rel=1e-3, abs=1e-4, nan_ok=True))
    return bool(own == found)


def _differing(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(outcomes) >= 20, done.stderr[-2000:]
    # A program that this library itself does not run shows nothing.
    ran = {name: (own, there) for name, own, there in outcomes if "result" in own}
    return {name: [own, there] for name, (own, there) in ran.items() if not _is_close(own, there)}


_CATALOGUES: Final = ("programs", "further_programs", "third_programs", "fourth_programs", "fifth_programs", "sixth_programs")


@pytest.mark.parametrize("catalogue", _CATALOGUES)
@pytest.mark.parametrize("version", sorted(tensorflows.VARIABLES))
def test_programs_find_there_what_they_find_in_their_own_process(version: str, catalogue: str) -> None:
    python = tensorflows.interpreter(version)
    assert weft.Session  # the ops are there
    with Server({"a": ["localhost:0"]}) as server:
        command = [python, str(_FOLDER / "run.py"), "tensorflow", str(_FOLDER / f"{catalogue}.txt"), server.target]
        # Later versions have the layers and cells that sessions run only with the Keras before the third.
        environment = {**tensorflows.environment(), "TF_USE_LEGACY_KERAS": "1"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=800, env=environment)
    assert _differing(done) == {}


@pytest.mark.parametrize("catalogue", ["third_programs", "sixth_programs"])
@pytest.mark.parametrize("version", sorted(tensorflows.VARIABLES))
def test_programs_of_weft_find_on_tensorflows_servers_what_they_find_in_their_own_process(version: str, catalogue: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(_FOLDER.parents[2])}
    with tensorflows.servers(version, {"a": 1}) as targets:
        command = [sys.executable, str(_FOLDER / "run.py"), "weft", str(_FOLDER / f"{catalogue}.txt"), targets["a"][0]]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=800, env=environment)
    assert _differing(done) == {}
