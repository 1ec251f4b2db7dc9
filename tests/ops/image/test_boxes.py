"""Boxes with numbers that are none, and other bad input: as TensorFlow 1.15 has it, or a clear error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.ops.image.distortion import stateless_sample_distorted_bounding_box

NAN, INF = float("nan"), float("inf")
IMAGE = np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1)


@pytest.mark.parametrize(
    ("box", "drawn"),
    [
        ((NAN, 0, 1, 1), ["#..#", "#..#", "#..#", "####"]),
        ((INF, 0, 1, 1), ["#..#", "#..#", "#..#", "####"]),
        ((-INF, 0, 1, 1), ["#..#", "#..#", "#..#", "####"]),
        ((0, NAN, 1, 1), ["####", "...#", "...#", "####"]),
        ((0, 0, NAN, 1), ["....", "....", "....", "...."]),
        ((0, 0, 1, INF), ["....", "....", "....", "...."]),
        ((0, 0, 1e30, 0.5), ["....", "....", "....", "...."]),
        ((-INF, -INF, INF, INF), ["....", "....", "....", "...."]),
        ((-3e9, -3e9, 0.4, 0.4), [".#..", "##..", "....", "...."]),
    ],
)
def test_a_corner_at_no_pixel_is_cut_off_or_leaves_the_box_out(
    run: Callable[[Any], Any], box: tuple[float, ...], drawn: list[str]
) -> None:
    pixels = run(tf.image.draw_bounding_boxes(np.zeros((1, 4, 4, 1), np.float32), np.array([[box]], np.float32)))
    assert ["".join("#" if each else "." for each in row) for row in pixels[0, :, :, 0]] == drawn


def test_corners_fall_on_the_pixels_of_float32(run: Callable[[Any], Any]) -> None:
    # 9/11 of 11 is 8.999... in float64 and 9 in float32.
    box = np.array([[[9 / 11, 0, 9 / 11, 1]]], np.float32)
    assert np.nonzero(run(tf.image.draw_bounding_boxes(np.zeros((1, 12, 2, 1), np.float32), box))[0, :, 0, 0])[0] == [9]


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_boxes_that_are_not_finite_are_refused_and_great_ones_lie_outside_of_the_image(method: str) -> None:
    fed = tf.placeholder(tf.float32, [1, 4])
    crops = tf.image.crop_and_resize(IMAGE, fed, [0], [2, 2], method=method, extrapolation_value=-1)
    expected = np.full((1, 2, 2, 1), -1.0)
    expected[0, 0, :, 0] = 0, 3
    config = tf.ConfigProto()
    for level in (tf.OptimizerOptions.OFF, tf.OptimizerOptions.ON_1):  # interpreted, then compiled
        config.graph_options.optimizer_options.global_jit_level = level
        with tf.Session(config=config) as session:
            np.testing.assert_array_equal(session.run(crops, {fed: [(0, 0, 1e38, 1)]}), expected)
            for box in ((NAN, 0, 1, 1), (0, NAN, 1, 1), (0, 0, INF, 1), (-INF, 0, INF, 1)):
                with pytest.raises(tf.errors.InvalidArgumentError, match="at least one element that is not finite"):
                    session.run(crops, {fed: [box]})


BOXES = np.array([(0, 0, 1, 1), (0, 0, 1, 0.5), (0, 1, 1, 2)], np.float32)
SCORES = np.array([0.9, 0.8, 0.7], np.float32)


@pytest.mark.parametrize(
    ("threshold", "sigma", "chosen"),
    [(0.5, 0.0, [0, 2]), (0.5, 0.5, [0, 2]), (0.0, 0.0, [0]), (0.51, 0.0, [0, 1, 2]), (1.0, 0.5, [0, 2, 1])],
)
def test_an_overlap_that_reaches_the_threshold_suppresses(
    run: Callable[[Any], Any], threshold: float, sigma: float, chosen: list[int]
) -> None:
    indices, _ = tf.image.non_max_suppression_with_scores(BOXES, SCORES, 9, threshold, soft_nms_sigma=sigma)
    assert run(indices).tolist() == chosen


def test_a_negative_number_of_boxes_is_no_limit(run: Callable[[Any], Any]) -> None:
    assert run(tf.image.non_max_suppression(BOXES, SCORES, -1)).tolist() == [0, 2]


@pytest.mark.parametrize("value", [NAN, INF, -INF])
@pytest.mark.parametrize("side", [0, 2])
def test_a_box_without_an_area_suppresses_none_and_is_chosen_once(run: Callable[[Any], Any], value: float, side: int) -> None:
    boxes = BOXES.copy()
    boxes[0, side] = value
    assert run(tf.image.non_max_suppression(boxes, SCORES, 9)).tolist() == [0, 1, 2]


@pytest.mark.parametrize(("value", "chosen"), [(NAN, [0, 2]), (-INF, [0, 2]), (INF, [1, 2])])
def test_scores_that_are_no_numbers_are_left_out_or_first(run: Callable[[Any], Any], value: float, chosen: list[int]) -> None:
    scores = np.array([0.9, value, 0.7], np.float32)
    assert run(tf.image.non_max_suppression(BOXES, scores, 9)).tolist() == chosen


def part(**changes: Any) -> Any:
    arguments: dict[str, Any] = {"image_size": [10, 10, 3], "bounding_boxes": [[[0.1, 0.1, 0.9, 0.9]]], "seed": 1, **changes}
    return tf.image.sample_distorted_bounding_box(**arguments)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"image": (4, 4, 1), "boxes": (4,)}, r"input image must be 4-D: its shape is \[4, 4, 1\]"),
        ({"image": (1, 0, 4, 1), "crop_size": [0, 1]}, "image dimensions must be positive"),
        ({"boxes": (1, 3), "box_ind": [[0]]}, r"box_indices must be rank 1 but is shape \[1, 1\]"),
        ({"boxes": (1, 3), "box_ind": [0, 0]}, "boxes must have 4 columns"),
        ({"box_ind": [0, 7], "crop_size": [0, 1]}, "box_index has incompatible shape"),
        ({"box_ind": [7], "crop_size": [1]}, r"crop_size must have two elements: its shape is \[1\]"),
        ({"box_ind": [7], "crop_size": [0, 1]}, "crop dimensions must be positive"),
    ],
)
def test_of_two_mistakes_in_what_is_cropped_that_of_tensorflow_is_told(changes: dict[str, Any], match: str) -> None:
    given: dict[str, Any] = {"image": (1, 4, 4, 1), "boxes": (1, 4), "box_ind": [0], "crop_size": [2, 2], **changes}
    kinds = {"image": tf.float32, "boxes": tf.float32, "box_ind": tf.int32, "crop_size": tf.int32}
    fed = {name: tf.placeholder(kind, name=name) for name, kind in kinds.items()}
    values = {fed[name]: np.zeros(each) if isinstance(each, tuple) else each for name, each in given.items()}
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=match):
        session.run(tf.image.crop_and_resize(*fed.values()), values)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: part(bounding_boxes=[[[0, 0, 1, NAN]]]), r"All bounding box coordinates must be in \[0.0, 1.0\]: nan"),
        (lambda: part(bounding_boxes=[[[-INF, 0, 1, 1]]]), r"All bounding box coordinates must be in \[0.0, 1.0\]: -inf"),
        (lambda: part(min_object_covered=NAN), "Min object covered must be non-negative: nan"),
        (lambda: part(aspect_ratio_range=[NAN, 1]), r"Aspect ratio range must be non-negative: \[nan, 1\]"),
        (lambda: part(aspect_ratio_range=[1.0]), "Aspect ratio range field must specify 2 dimensions"),
        (lambda: part(area_range=[0.05, NAN]), r"Area range must be non-negative: \[0.05, nan\]"),
        (lambda: part(area_range=[0.05, INF]), r"Area range must be less then or equal to 1.0: \[0.05, inf\]"),
        (lambda: part(max_attempts=0), "Max attempts must be non-negative: 0"),
        (lambda: part(image_size=[2**31 - 1, 10, 3]), "image height cannot be >= int32 max"),
        (lambda: tf.image.crop_and_resize(IMAGE, [[0.0, 0, 1, 1]], [0], [-1, 2]), "crop dimensions must be positive"),
        (lambda: tf.image.crop_and_resize(IMAGE[:, :0], [[0.0, 0, 1, 1]], [0], [1, 2]), "image dimensions must be positive"),
        (lambda: tf.image.non_max_suppression(BOXES, SCORES, 3, NAN), r"iou_threshold must be in \[0, 1\]"),
        (
            lambda: tf.image.non_max_suppression_with_scores(BOXES, SCORES, 3, soft_nms_sigma=NAN),
            "soft_nms_sigma_val must be >= 0",
        ),
    ],
)  # fmt: skip
def test_values_that_make_no_sense_are_refused(run: Callable[[Any], Any], make: Callable[[], Any], match: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        run(make())


@pytest.mark.parametrize(
    "changes", [{"min_object_covered": 2.0}, {"aspect_ratio_range": [INF, 1]}, {"aspect_ratio_range": [0.5, INF]}]
)
def test_what_no_part_can_meet_gives_the_whole_image(run: Callable[[Any], Any], changes: dict[str, Any]) -> None:
    begin, size, _ = run(part(**changes))
    assert (begin.tolist(), size.tolist()) == ([0, 0, 0], [10, 10, -1])


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: part(image_size=[10, 10]), "Dimension must be 3 but is 2"),
        (lambda: part(bounding_boxes=[[0.0, 0, 1, 1]]), "Shape must be rank 3 but is rank 2"),
        (lambda: tf.image.crop_and_resize(IMAGE, [[0.0, 0, 1]], [0], [1, 2]), "Dimension must be 4 but is 3"),
        (lambda: tf.image.crop_and_resize(IMAGE, [[0.0, 0, 1, 1]], [0], [1, 2, 3]), "Dimension must be 2 but is 3"),
        (lambda: tf.image.crop_and_resize(IMAGE, [[0.0, 0, 1, 1]], [0, 0], [1, 2]), "must be equal, but are 1 and 2"),
        (lambda: tf.image.crop_and_resize(IMAGE, [[0.0, 0, 1, 1]], [0], [1, 2], "cubic"), "passed string 'cubic' not in"),
        (lambda: tf.image.non_max_suppression(BOXES, SCORES, [3]), "Shape must be rank 0 but is rank 1"),
    ],
)  # fmt: skip
def test_shapes_that_do_not_fit_are_refused_when_the_graph_is_built(make: Callable[[], Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        make()


def test_boxes_learn_from_the_nearest_pixels_as_if_they_were_mixed(run: Callable[[Any], Any]) -> None:
    boxes = tf.constant([[0.1, 0.2, 0.7, 0.8]])
    gradients = [
        run(tf.gradients(tf.image.crop_and_resize(IMAGE, boxes, [0], [2, 2], method=method), boxes)[0])
        for method in ("nearest", "bilinear")
    ]
    assert np.any(gradients[0])
    np.testing.assert_array_equal(*gradients)


def test_the_parts_drawn_for_a_seed_are_tensorflows() -> None:
    # The first are those of 1.15.5: in it the graph's seed does not count, and corners are found in float32.
    boxes = np.array([[[0.1, 0.1, 0.9, 0.9]]], np.float32)
    tf.set_random_seed(7)
    begin, size, _ = tf.image.sample_distorted_bounding_box([90, 110, 3], boxes, seed=3)
    wide = tf.image.sample_distorted_bounding_box(
        [40, 30, 3], [[[0.1, 0.2, 0.7, 0.9]]], 2, 0, 0.6, aspect_ratio_range=[0.2, 5.0]
    )
    later = tf.compat.v2.image.sample_distorted_bounding_box([90, 110, 3], boxes, seed=3)
    by_seed = stateless_sample_distorted_bounding_box([90, 110, 3], boxes, 0.1, [1, 2])
    with tf.Session() as session:
        drawn = [[each.tolist() for each in session.run([begin, size])] for _ in range(2)]
        second = [[each.tolist() for each in session.run(wide)[:2]] for _ in range(3)]
        of_the_second_version = [[each.tolist() for each in session.run(later)[:2]] for _ in range(2)]
        alone = [each.tolist() for each in session.run(by_seed)]
    assert drawn == [[[19, 39, 0], [59, 49, -1]], [[7, 11, 0], [76, 86, -1]]]
    assert second == [[[5, 0, 0], [16, 29, -1]], [[3, 0, 0], [35, 28, -1]], [[8, 5, 0], [23, 23, -1]]]
    assert of_the_second_version == [[[3, 20, 0], [67, 66, -1]], [[0, 0, 0], [84, 108, -1]]]
    assert alone[:2] == [[15, 14, 0], [49, 61, -1]]
