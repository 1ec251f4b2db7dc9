"""A weft program trains on servers of TensorFlow's with the losses that it has in its own process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests import tensorflows
from tests.interop.exported_programs import initializers, train
from tests.interop.training_programs import PROGRAMS

pytestmark = [pytest.mark.oracle, pytest.mark.timeout(300)]


_TIMED = {"sync_replicas"}


@pytest.fixture(scope="module", params=sorted(tensorflows.VARIABLES))
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    with tensorflows.servers(request.param, {"a": 1}) as started:
        yield started["a"][0]


def _losses(name: str, target: str) -> list[float]:
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        program = PROGRAMS[name]()
        plan: dict[str, Any] = {
            "before": [each.name for each in initializers(program)],
            "loss": program.loss.name,
            "train": program.train.name,
            "extra": [each.name for each in program.extra],
        }
        feeds = {tensor.name: np.asarray(value, tensor.dtype.as_numpy_dtype) for tensor, value in program.feeds.items()}
        if target:
            tf.Session.reset(target)
        with tf.Session(target) as session:
            return train(session, plan, feeds)


@pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices:UserWarning")  # TensorFlow warns of it, too
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_trains_there_with_the_same_losses(target: str, name: str) -> None:
    found, expected = _losses(name, target), _losses(name, "")
    if name in _TIMED:
        # When an update is seen is a matter of time: the first steps have the first loss or a later one.
        assert found[0] == pytest.approx(expected[0], rel=2e-4)
        assert found == sorted(found, reverse=True)
    else:
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=1e-5)
