"""What all tests share."""

import gc
import os
import sys
from collections.abc import Iterator

import pytest

import weft as tf
from weft.framework.graphs.graph import default_graphs
from weft.platform.imports.collections import no_collections

# Hundreds of tests start processes, each of which imports weft: 1.5 s of CPU time with compiled modules at hand, 2.8 s without
# (two cores, 2026-11-23).
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# What a test counts, and the last digits of what it computes, does not depend on when code is ready. The tests of code that is
# made beside the steps ask for that; processes that tests start inherit this.
os.environ.setdefault("TF_DETERMINISTIC_OPS", "1")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keep the items of all tests out of garbage collections: each of those that a test asks for looked at them, for 0.3 s."""
    with no_collections():
        return (yield)


@pytest.fixture(autouse=True, scope="module")
def _earlier_files_are_out_of_collections() -> None:
    """Keep what earlier files have left out of garbage collections: one that a test asks for looked at it, for 0.5 s."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _working_directory_stays_clean() -> Iterator[None]:
    """Say at the end of a run what its tests have left where they were started: they have `tmp_path` for that."""
    directory = os.getcwd()
    before = set(os.listdir(directory))
    yield
    left = sorted(name for name in set(os.listdir(directory)) - before if not name.startswith((".", "__pycache__")))
    assert not left, f"tests have left {left} in {directory}"


@pytest.fixture(autouse=True)
def _no_cluster_from_the_environment(monkeypatch):
    """Keep a TF_CONFIG of the machine that runs the tests away from the programs under test."""
    monkeypatch.delenv("TF_CONFIG", raising=False)


@pytest.fixture(autouse=True)
def _default_graph_is_empty():
    """Keep nodes of earlier tests of this process out of the default graph: a device that no task has fails all steps."""
    if default_graphs.is_cleared():
        tf.reset_default_graph()
