"""The agents: what they compute between their steps, and whether they solve their tasks."""

import argparse
import importlib.util
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def a3c() -> ModuleType:
    pytest.importorskip("gymnasium", reason="CartPole is gymnasium's: pip install 'weft[agents]'")
    module = example("a3c")
    module.FLAGS = argparse.Namespace(discount=0.9, smoothing=0.5, stretch=4, lstm=False)
    return module


@pytest.fixture(scope="module")
def preferences() -> ModuleType:
    return example("preferences")


def test_advantages_discount_what_was_better_than_expected(a3c: ModuleType) -> None:
    stretch = a3c.Stretch(np.zeros((2, 4)), np.zeros(2, int), np.ones(2), np.array([1.0, 2.0, 3.0]), None)
    last = 1 + 0.9 * 3 - 2
    np.testing.assert_allclose(a3c.advantages_of(stretch), [1 + 0.9 * 2 - 1 + 0.45 * last, last])


def test_a_short_stretch_is_filled_up(a3c: ModuleType) -> None:
    np.testing.assert_array_equal(a3c.padded(np.ones((3, 2))), [[1, 1], [1, 1], [1, 1], [0, 0]])


def test_the_best_moves_lead_to_the_liked_point(preferences: ModuleType) -> None:
    random = np.random.RandomState(3)
    played = preferences.play(preferences.best_moves, random, 50)
    assert played.positions.shape == (50, preferences.STEPS, 2)
    assert np.abs(played.positions[:, -1] - preferences.LIKED).max() < 0.15
    assert played.liked[:, -1].mean() > played.liked[:, 0].mean()


def test_moves_are_drawn_with_their_probabilities(preferences: ModuleType) -> None:
    moves = preferences.drawn(np.tile([[0.1, 0.0, 0.9]], (5000, 1)), np.random.RandomState(4))
    np.testing.assert_allclose(np.bincount(moves, minlength=3) / 5000, [0.1, 0.0, 0.9], atol=0.02)


@pytest.fixture
def launch(run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> Callable[[str, int], str]:
    """Trains an example on a server and some workers; its output."""

    def to_its_end(program: str, workers: int) -> str:
        flags = ["--ps", 1, "--worker", workers, f"examples/{program}", f"--train_dir={tmp_path}"]
        done = run("-m", "weft.cli", "launch", *flags, timeout_s=900)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        assert list(tmp_path.rglob("events.out.tfevents.*"))
        return done.stdout

    return to_its_end


@pytest.mark.slow
@pytest.mark.timeout(960)
def test_a3c_solves_cart_pole(a3c: ModuleType, launch: Callable[[str, int], str]) -> None:
    average = re.search(r"solved after \d+ steps in \d+ s: ([\d.]+) on average", launch("a3c.py", 2))
    assert average
    assert float(average[1]) >= 475


@pytest.mark.slow
@pytest.mark.timeout(960)
def test_an_agent_learns_what_a_judge_prefers(launch: Callable[[str, int], str]) -> None:
    assert re.search(r"understood after \d+ steps: 9\d% of the way", launch("preferences.py", 2))
