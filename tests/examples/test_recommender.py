"""The recommender: its world is always the same, its measure right, and it learns on a cluster."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "examples" / "recommender.py"


@pytest.fixture(scope="module")
def recommender():
    spec = importlib.util.spec_from_file_location("recommender", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_area_under_the_curve_counts_pairs(recommender):
    labels, scores = np.array([0, 1, 0, 1]), np.array([0.1, 0.9, 0.5, 0.3])
    assert recommender.area_under_curve(labels, scores) == 0.75
    assert recommender.area_under_curve(labels, -scores) == 0.25


def test_the_world_is_always_the_same_and_can_be_learned(recommender):
    one, two = recommender.make_world(), recommender.make_world()
    assert (one.training.likes == two.training.likes).all()
    best = recommender.area_under_curve(one.test.likes, one.test.probability)
    assert 0.8 < best < 0.95
    assert 0.4 < one.test.likes.mean() < 0.6


@pytest.mark.slow
@pytest.mark.timeout(660)
def test_it_learns_on_two_servers_and_draws_its_curve(run, tmp_path):
    flags = [f"--train_dir={tmp_path / 'model'}", f"--data_dir={tmp_path / 'data'}", "--train_steps=300"]
    ran = run("-m", "weft.cli", "launch", "--ps", 2, "--worker", 2, PROGRAM, *flags, timeout_s=640)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    area, best = map(float, re.search(r"test AUC ([\d.]+) of ([\d.]+) possible", ran.stdout).groups())
    assert 0.6 < area < best
    assert [*(tmp_path / "model").glob("events.out.tfevents.*")]
