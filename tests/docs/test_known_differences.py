"""The table of differences in docs/migration.md is true: each row has a program that both were asked, or tests elsewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.known_differences import PROGRAMS
from tests.tensorflows import environment, interpreter

_ROOT = Path(__file__).parents[2]
_PAGE = _ROOT / "docs" / "migration.md"
_PROGRAMS = Path(__file__).with_name("known_differences.py")

# What each has, by row: TensorFlow 1.15 first. The rows whose programs are about one process are here.
_OUTCOMES: dict[str, tuple[object, object]] = {
    "floating-point results": (True, True),
    "the seed of an op that has only the graph's": (128, 104),
    "eager mode": (True, False),
    "`tf.function`, `tf.autograph`": ("PartitionedCall", "IdentityN"),
    # The first run is slower than later ones in both; one of another size is not.
    "first runs of a step": ([True, True], [True, True]),
    "devices": (["CPU", "XLA_CPU"], ["CPU"]),
    "ports": (1, 2),
    "who may use a server": ("reached 3", "PermissionDeniedError"),
    "files that graphs may open": ("read", "PermissionDeniedError"),
    "`server.join()`": ("waits", 0),
    "a save while others train": ("torn", "whole"),
    "gradients of `tf.py_function`": (False, True),
    "`tf.load_op_library`": ("NotFoundError", "UnimplementedError"),
    "`parallel_iterations`, `swap_memory`, `use_cudnn_on_gpu`": (5, 5),
    "the gradient of `tf.nn.ctc_loss_v2` behind the end of a sequence, of dense labels": (True, False),
    "a feed that loses something, such as 1.7 for an int32": (1, "TypeError"),
    "`tf.jax_function`, `weft.explain`, `tf.LocalCluster`, `tf.draw_timeline`, `tf.draw_placement`": (0, 5),
    "`tf.contrib.cudnn_rnn`": ("InvalidArgumentError", "runs"),
    "addresses": ("all", "its own"),
    "`http_proxy`, `grpc_proxy`": ("waits", "reached"),
    "a task that dies or stands still": ("waits", "UnavailableError"),
    "replicas with different variables": ("waits", "InvalidArgumentError"),
    "a save without a shared file system": ("elsewhere", "here"),
    "device filters of a training session": ("waits", 0),
    # Seven steps of one replica of two, in a session of its own, make three updates; in a cluster weft counts the replicas.
    "a dead replica under `SyncReplicasOptimizer`": (3, 3),
    # The seconds between two of its looks; what tells weft's sooner is held by the tests elsewhere.
    "a replica that waits for its chief": (30, 30),
    "`grpc+verbs`, `grpc+mpi`, `grpc+gdr`": ("NotFoundError", "NotFoundError"),
    "`Server.stop`": (False, True),
    "a damaged checkpoint": ("DataLossError", 1),
    "Python generators in a saved iterator": ("FailedPreconditionError", 1),
    "tracebacks": ("several", "one"),
    "a name that is misspelt or lacking": (False, True),
}

# Rows of which no single process shows all that weft does, with the tests that hold it.
_ELSEWHERE = {
    "a replica that waits for its chief": "tests/training/sessions/test_session_manager.py",
    "kernels": "tests/runtime/choice",
    "servers of both in one cluster": "tests/distributed/test_tensorflow_client.py",
    "a restarted parameter server": "tests/training/sessions/test_revival.py",
    "a dead replica under `SyncReplicasOptimizer`": "tests/training/sessions/test_quorum.py",
    "a parameter server's GPUs": "tests/distributed/server",
}


# Some rows wait for what never comes: all of them in one process take minutes on a busy machine.
_PARTS = 5
_in_parts = pytest.mark.parametrize("part", [list(_OUTCOMES)[first::_PARTS] for first in range(_PARTS)], ids=range(_PARTS))


def _rows() -> list[str]:
    """The first cells of the table's rows, without the headings in it."""
    table = _PAGE.read_text(encoding="utf-8").partition("## What differs")[2].partition("\n## ")[0]
    cells = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("|")]
    return [cell for cell in cells[2:] if not cell.startswith("**")]


def _asked_here(rows: list[str]) -> dict[str, tuple[object, object]]:
    """What is expected of those of the rows that are asked: only root becomes another user."""
    return {row: _OUTCOMES[row] for row in rows if not os.geteuid() or row != "who may use a server"}


def _asked(python: str, module: str, variables: dict[str, str], rows: list[str]) -> dict[str, Any]:
    command = [python, str(_PROGRAMS), module, *rows]
    ran = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=280)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def test_every_row_has_a_program_or_tests_elsewhere() -> None:
    rows = _rows()
    assert set(rows) == {*PROGRAMS, *_ELSEWHERE}
    assert len(rows) == len(set(rows))
    assert set(PROGRAMS) == set(_OUTCOMES)
    assert not [path for path in _ELSEWHERE.values() if not (_ROOT / path).exists()]


@pytest.mark.slow
@pytest.mark.timeout(300)
@_in_parts
def test_what_the_rows_say_of_weft_is_so(part: list[str]) -> None:
    found = _asked(sys.executable, "weft", {**os.environ, "PYTHONPATH": str(_ROOT)}, part)
    assert found == {row: outcome for row, (_, outcome) in _asked_here(part).items()}


@pytest.mark.oracle
@pytest.mark.timeout(300)
@_in_parts
def test_what_the_rows_say_of_tensorflow_is_so(part: list[str]) -> None:
    found = _asked(interpreter("1.15"), "tensorflow", environment(), part)
    assert found == {row: outcome for row, (outcome, _) in _asked_here(part).items()}


def test_the_page_names_a_module_that_is_really_lacking() -> None:
    page = _PAGE.read_text(encoding="utf-8")
    shown = re.search(r"try:\n    (tf\.contrib\.\w+)\nexcept AttributeError", page)
    assert shown is not None
    lacking = (_ROOT / "weft" / "api" / "lacking_names.txt").read_text(encoding="utf-8").split()
    assert shown[1].removeprefix("tf.") + "." in lacking
