"""A program's random numbers stay its own while libraries are imported beside it."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from weft.platform.imports.own_random import no_common_numbers

IMPORTED = """
import random
import numpy as np
np.random.seed(1)
random.seed(1)
before = np.random.get_state()[2], random.getstate()
from weft.platform.imports.jax_modules import load
load()
print((np.random.get_state()[2], random.getstate()) == before, type(np.random.rand.__self__).__name__)
"""


def test_the_import_of_jax_draws_none_of_a_programs_numbers():
    done = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["True", "RandomState"], done.stdout + done.stderr


@pytest.fixture
def seeded():
    state = np.random.get_state()
    np.random.seed(5)
    yield
    np.random.set_state(state)


def test_other_threads_draw_from_the_common_generator_meanwhile(seeded):
    expected = np.random.RandomState(5).rand(2, 3)
    drawn = []
    with no_common_numbers():
        own = np.random.rand(4)
        thread = threading.Thread(target=lambda: drawn.append(np.random.rand(2, 3)))
        thread.start()
        thread.join(10)
    assert own.shape == (4,)
    np.testing.assert_array_equal(drawn[0], expected)


def test_the_function_is_put_back_even_after_an_error():
    rand = np.random.rand
    with pytest.raises(ImportError), no_common_numbers():
        raise ImportError("broken library")
    assert np.random.rand is rand


def test_another_replacement_made_meanwhile_stays(monkeypatch):
    def mine(*sizes):
        return np.zeros(sizes)

    monkeypatch.setattr(np.random, "rand", np.random.rand)
    with no_common_numbers():
        np.random.rand = mine
    assert np.random.rand is mine
