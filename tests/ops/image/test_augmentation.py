"""Images changed at random: within what is asked for, each image of a batch by a chance of its own, repeatable by a seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

IMAGE = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
BATCH = np.stack([IMAGE, IMAGE + 60, IMAGE + 120])


@pytest.mark.parametrize(("flip", "axis"), [(tf.image.random_flip_left_right, 1), (tf.image.random_flip_up_down, 0)])
def test_images_of_a_batch_are_flipped_by_chances_of_their_own(flip: Callable[..., Any], axis: int) -> None:
    flipped = flip(BATCH, seed=3)
    seen: set[tuple[bool, ...]] = set()
    with tf.Session() as session:
        for _ in range(40):
            images = session.run(flipped)
            chances = tuple(np.array_equal(image, np.flip(own, axis)) for image, own in zip(images, BATCH, strict=True))
            assert all(
                is_flipped or np.array_equal(image, own) for is_flipped, image, own in zip(chances, images, BATCH, strict=True)
            )
            seen.add(chances)
    assert len(seen) > 4
    assert flipped.shape.as_list() == [3, 4, 5, 3]


def test_a_seed_makes_the_changes_repeatable() -> None:
    def draw() -> list[Any]:
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(7)
            changed = [
                tf.image.random_flip_left_right(IMAGE), tf.image.random_brightness(IMAGE, 0.3), tf.image.random_hue(IMAGE, 0.2),
                tf.image.random_contrast(IMAGE, 0.5, 1.5), tf.image.random_saturation(IMAGE, 0.5, 1.5),
            ]  # fmt: skip
            return [session.run(changed) for _ in range(3)]

    first, second = draw(), draw()
    for ours, theirs in zip(first, second, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            assert np.array_equal(a, b)
    assert not np.array_equal(first[0][1], first[1][1])


def test_brightness_changes_by_one_number_within_the_range() -> None:
    changed = tf.image.random_brightness(tf.zeros([2, 2, 3]), 0.25)
    with tf.Session() as session:
        deltas = [np.unique(session.run(changed)) for _ in range(50)]
    assert all(len(each) == 1 and -0.25 <= each[0] < 0.25 for each in deltas)
    assert len({float(each[0]) for each in deltas}) > 40


def test_sampled_parts_cover_enough_of_the_box_and_keep_to_area_and_proportion() -> None:
    box = np.array([[[0.25, 0.25, 0.75, 0.75]]], np.float32)
    begin, size, part = tf.image.sample_distorted_bounding_box(
        [40, 60, 3], box, min_object_covered=0.5, aspect_ratio_range=[0.8, 1.25], area_range=[0.3, 0.9], seed=1
    )
    with tf.Session() as session:
        drawn = [session.run([begin, size, part]) for _ in range(60)]
    for (top, left, _), (height, width, channels), where in drawn:
        assert channels == -1
        assert 0.29 <= height * width / 2400 <= 0.91
        assert 0.7 <= width / height <= 1.4
        assert where[0, 0] == pytest.approx([top / 40, left / 60, (top + height) / 40, (left + width) / 60])
        shared = max(min(top + height, 30) - max(top, 10), 0) * max(min(left + width, 45) - max(left, 15), 0)
        assert shared >= 0.5 * 20 * 30
    assert len({tuple(each[0]) for each in drawn}) > 20
