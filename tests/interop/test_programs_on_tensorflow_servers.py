"""Programs that do not train give on servers of TensorFlow's what they give here."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests import tensorflows

pytestmark = [pytest.mark.oracle, pytest.mark.timeout(300)]


@pytest.fixture(scope="module", params=sorted(tensorflows.VARIABLES))
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    with tensorflows.servers(request.param, {"a": 1}) as started:
        yield started["a"][0]


def _picture(kind: str) -> bytes:
    pixels = np.random.RandomState(0).randint(0, 255, [5, 6, 3]).astype(np.uint8)
    with io.BytesIO() as file:
        pytest.importorskip("PIL.Image").fromarray(pixels).save(file, kind)
        return file.getvalue()


def _matrices() -> Any:
    return tf.placeholder_with_default(np.arange(1.0, 41.0, dtype=np.float32).reshape(2, 4, 5), [2, 4, 5])


def _set_diagonals() -> Any:
    matrices = _matrices()
    return tf.linalg.set_diag(matrices, 2.0 * tf.linalg.diag_part(matrices, k=(-1, 2)), k=(-1, 2))


def _chosen_datasets() -> Any:
    datasets = [tf.data.Dataset.range(5), tf.data.Dataset.range(100, 105)]
    turns = tf.data.Dataset.from_tensor_slices(np.array([0, 1, 1, 0], np.int64))
    chosen = tf.data.experimental.choose_from_datasets(datasets, turns).batch(4)
    return chosen.make_one_shot_iterator().get_next()


def _loop_that_updates() -> Any:
    count = tf.get_variable("count", initializer=1.0, use_resource=False)

    def body(i: Any) -> Any:
        with tf.control_dependencies([count.assign_add(2.0)]):
            return i + 1

    with tf.control_dependencies([tf.while_loop(lambda i: i < 3, body, [0])]):
        return count.read_value()


def _averages_in_a_branch() -> Any:
    weight = tf.get_variable("weight", initializer=1.0, use_resource=False)
    average = tf.train.ExponentialMovingAverage(0.9)
    with tf.control_dependencies([weight.assign(5.0)]):
        update = tf.cond(tf.placeholder_with_default(True, []), lambda: tf.group(average.apply([weight])), tf.no_op)
    with tf.control_dependencies([update]):
        return average.average(weight).read_value()


def _average_with_a_step() -> Any:
    weight = tf.get_variable("weight", initializer=1.0, use_resource=False)
    step = tf.train.get_or_create_global_step()
    train = tf.train.GradientDescentOptimizer(0.1).minimize(weight * weight, global_step=step)
    average = tf.train.ExponentialMovingAverage(0.9999, num_updates=step)
    with tf.control_dependencies([train]):
        update = average.apply([weight])
    with tf.control_dependencies([update]):
        return average.average(weight).read_value()


PROGRAMS: dict[str, Callable[[], Any]] = {
    **{f"decode_{kind}": lambda kind=kind: tf.image.decode_image(_picture(kind)) for kind in ("PNG", "JPEG", "BMP", "GIF")},  # type: ignore[misc]
    "diagonals": lambda: tf.linalg.diag_part(_matrices(), k=(-2, 2), padding_value=7.0),
    "matrices_of_diagonals": lambda: tf.linalg.diag(_matrices()[:, :3], k=(-1, 1)),
    "set_diagonals": _set_diagonals,
    "boxes": lambda: tf.image.draw_bounding_boxes(tf.zeros([1, 6, 6, 3]), [[[0.1, 0.2, 0.7, 0.8], [0, 0, 1, 1]]]),
    "chosen_datasets": _chosen_datasets,
    "loop_that_updates": _loop_that_updates,
    "averages_in_a_branch": _averages_in_a_branch,
    "average_with_a_step": _average_with_a_step,
    "map_of_nothing": lambda: tf.map_fn(lambda row: row * 2, tf.placeholder_with_default(tf.zeros([0, 3]), [None, 3])),
}


def _value(name: str, target: str) -> Any:
    with tf.Graph().as_default():
        made = PROGRAMS[name]()
        if target:
            tf.Session.reset(target)
        with tf.Session(target) as session:
            session.run(tf.global_variables_initializer())
            return session.run(made)


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_gives_there_what_it_gives_here(target: str, name: str) -> None:
    found, expected = _value(name, target), _value(name, "")
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_what_is_fed_and_fetched_needs_no_step_there(target: str) -> None:
    fed = tf.placeholder(tf.float32, [2])
    with tf.Session(target) as session:
        assert session.run(fed, {fed: [1.0, 2.0]}).tolist() == [1.0, 2.0]
