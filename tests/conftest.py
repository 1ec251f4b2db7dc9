"""What all tests share."""

import pytest


@pytest.fixture(autouse=True)
def _no_cluster_from_the_environment(monkeypatch):
    """Keep a TF_CONFIG of the machine that runs the tests away from the programs under test."""
    monkeypatch.delenv("TF_CONFIG", raising=False)
