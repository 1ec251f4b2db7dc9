"""Pictures are changed as Keras 2.2 in TensorFlow 1.15.5 changes them; `expected.json` was made there by `observed`, which runs
with either.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import weft as tf

_EXPECTED: dict[str, Any] = json.loads(Path(__file__).with_name("expected.json").read_text(encoding="utf-8"))
_CHANGES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "rotation": {"rotation_range": 30},
    "shift": {"width_shift_range": 0.2, "height_shift_range": 3},
    "shift by one of": {"width_shift_range": [1, 2, 3], "fill_mode": "reflect"},
    "shear": {"shear_range": 20},
    "zoom": {"zoom_range": 0.3, "horizontal_flip": True},
    "zoom between": {"zoom_range": [0.5, 1.5], "vertical_flip": True, "fill_mode": "wrap"},
    "colours": {"channel_shift_range": 40.0},
    "brightness": {"brightness_range": (0.3, 1.4)},
    "all": {
        "rotation_range": 10, "width_shift_range": 0.1, "height_shift_range": 0.1, "shear_range": 5, "zoom_range": 0.1,
        "channel_shift_range": 10.0, "horizontal_flip": True, "vertical_flip": True, "rescale": 1 / 255.0,
    },
    "samples": {"samplewise_center": True, "samplewise_std_normalization": True},
    "features": {"featurewise_center": True, "featurewise_std_normalization": True},
    "function": {"preprocessing_function": lambda pixels: pixels * 2 + 1, "rescale": 0.1},
    "subset": {"validation_split": 0.3},
}  # fmt: skip
_DRAWN = {"random_rotation": 40, "random_shift": (0.3, 0.2), "random_shear": 30, "random_zoom": [(0.5, 1.2)]}


def _pictures() -> Any:
    return (np.random.RandomState(0).rand(10, 12, 9, 3) * 255).astype(np.float32), np.arange(10) % 3


def _sums(values: Any) -> list[Any]:
    """The shape and two sums, of which one tells where a value stands."""
    flat = np.asarray(values, np.float64).ravel()
    return [list(np.shape(values)), float(flat.sum()), float(flat @ np.cos(np.arange(flat.size)))]


def _folders(root: Any) -> None:
    for name in ("dog", "cat"):
        (root / name / "deep").mkdir(parents=True)
        (root / name / "no_picture.txt").write_text("")
        for number in range(5):
            pixels = np.random.RandomState(number + ord(name[0])).rand(8, 6 + number, 3) * 255
            path = root / name / ("deep" if number == 4 else ".") / (str(number) + ".png")
            Image.fromarray(pixels.astype(np.uint8)).save(str(path))


def changed(tf, kind: str) -> list[Any]:
    """The batches of an epoch and a half, labels and a batch by its number."""
    pictures, labels = _pictures()
    generator = tf.keras.preprocessing.image.ImageDataGenerator(**_CHANGES[kind])
    generator.fit(pictures, seed=3)
    batches = generator.flow(pictures, labels, batch_size=4, seed=5, subset="training" if kind == "subset" else None)
    found = [_sums(each) for _ in range(4) for each in next(batches)]
    return [*found, _sums(batches[1][0]), len(batches)]


def read(tf, root: Any, mode: Any, colours: str) -> list[Any]:
    """A batch of files, and what the iterator knows of them."""
    _folders(root)
    generator = tf.keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255.0, horizontal_flip=True, validation_split=0.4)
    batches = generator.flow_from_directory(
        str(root), target_size=(7, 7), class_mode=mode, color_mode=colours, batch_size=4, seed=3,
        subset="validation" if colours == "rgba" else "training", interpolation="bilinear" if colours == "rgb" else "nearest",
    )  # fmt: skip
    batch = next(batches)
    values = [_sums(each) for each in (batch if mode else [batch])]
    return [*values, batches.filenames, [int(each) for each in batches.classes], batches.class_indices, len(batches)]


def drawn(tf, name: str) -> list[Any]:
    """One function's changes, for channels first and last."""
    function = getattr(tf.keras.preprocessing.image, name)
    arguments = _DRAWN[name] if isinstance(_DRAWN[name], (tuple, list)) else (_DRAWN[name],)
    picture = _pictures()[0][0]
    np.random.seed(9)
    first = function(picture.transpose(2, 0, 1), *arguments)
    return [_sums(first), _sums(function(picture, *arguments, row_axis=0, col_axis=1, channel_axis=2))]


def _assert_alike(found: Any, expected: Any) -> None:
    if isinstance(expected, list) and len(expected) == 3 and isinstance(expected[1], float):
        assert found[0] == expected[0]
        np.testing.assert_allclose(found[1:], expected[1:], rtol=2e-4, atol=0.05)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for pair in zip(found, expected, strict=True):
            _assert_alike(*pair)
    else:
        assert found == expected


@pytest.mark.parametrize("kind", _CHANGES)
def test_batches_are_changed_as_keras_changes_them(kind: str) -> None:
    _assert_alike(changed(tf, kind), _EXPECTED["changed"][kind])


@pytest.mark.parametrize("mode", ["categorical", "binary", "sparse", "input", None])
@pytest.mark.parametrize("colours", ["rgb", "grayscale", "rgba"])
def test_folders_are_read_as_keras_reads_them(tmp_path: Path, mode: str | None, colours: str) -> None:
    _assert_alike(read(tf, tmp_path, mode, colours), _EXPECTED["read"][f"{mode} {colours}"])


@pytest.mark.parametrize("name", _DRAWN)
def test_a_picture_by_itself_is_changed_as_keras_changes_it(name: str) -> None:
    _assert_alike(drawn(tf, name), _EXPECTED["drawn"][name])


def test_whitening_makes_pixels_independent() -> None:
    image = tf.keras.preprocessing.image
    pictures = np.random.default_rng(0).normal(size=(500, 2, 2, 1)).cumsum(axis=1).cumsum(axis=2)
    with pytest.warns(UserWarning, match="`zca_whitening`, which overrides setting of `featurewise_center`"):
        generator = image.ImageDataGenerator(zca_whitening=True)
    with pytest.warns(UserWarning, match="hasn't been fit"):
        generator.standardize(np.zeros([2, 2, 1]))
    generator.fit(pictures)
    white = next(generator.flow(pictures, batch_size=500)).reshape(500, -1)
    np.testing.assert_allclose(np.cov(white.T), np.eye(4), atol=0.05)


def test_a_picture_survives_its_file(tmp_path: Path) -> None:
    image = tf.keras.preprocessing.image
    pixels = np.arange(60, dtype=np.float32).reshape(4, 5, 3)
    image.save_img(tmp_path / "picture.png", pixels, scale=False)
    np.testing.assert_array_equal(image.img_to_array(image.load_img(tmp_path / "picture.png")), pixels)
    grey = image.load_img(tmp_path / "picture.png", color_mode="grayscale", target_size=(2, 2))
    assert image.img_to_array(grey, data_format="channels_first").shape == (1, 2, 2)
    assert np.asarray(image.array_to_img(pixels)).max() == 255
    with pytest.raises(ValueError, match="Invalid interpolation method cubic"):
        image.load_img(tmp_path / "picture.png", target_size=(2, 2), interpolation="cubic")
    with pytest.raises(ValueError, match="rank 3"):
        image.array_to_img(np.zeros([2, 2]))


def test_what_cannot_be_is_refused() -> None:
    image = tf.keras.preprocessing.image
    for options, text in (
        ({"zoom_range": (1, 2, 3)}, "`zoom_range` should be"), ({"data_format": "NHWC"}, "`data_format` should be"),
        ({"validation_split": 2}, "strictly between 0 and 1"), ({"brightness_range": 0.5}, "`brightness_range should be"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            image.ImageDataGenerator(**options)
    pictures, labels = _pictures()
    with pytest.raises(ValueError, match="should have the same length"):
        image.ImageDataGenerator().flow(pictures, labels[:3])
    with pytest.raises(ValueError, match="should have rank 4"):
        image.ImageDataGenerator().flow(pictures[0])
    with pytest.raises(ValueError, match="different number of classes"):
        image.ImageDataGenerator(validation_split=0.5).flow(pictures, np.sort(labels), subset="training")


@pytest.mark.timeout(120)
def test_a_model_is_trained_by_a_generator() -> None:
    tf.set_random_seed(1)  # Some initial values begin near the end.
    pictures, labels = _pictures()
    generator = tf.keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255, horizontal_flip=True)
    model = tf.keras.Sequential(
        [tf.keras.layers.Flatten(input_shape=(12, 9, 3)), tf.keras.layers.Dense(3, activation="softmax")]
    )
    model.compile("adam", "sparse_categorical_crossentropy")
    batches = generator.flow(pictures, labels, batch_size=5, seed=1)
    losses = model.fit_generator(batches, epochs=8, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
