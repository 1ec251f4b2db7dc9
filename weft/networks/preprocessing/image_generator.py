"""ImageDataGenerator: pictures changed at random while a model is trained with them."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence

import numpy as np

from weft.framework.building.aliases import Array, Nest
from weft.framework.types.printed import printed
from weft.networks.config import Options
from weft.networks.preprocessing.image_batches import DirectoryIterator, NumpyArrayIterator
from weft.networks.preprocessing.image_frames import DataFrameIterator
from weft.networks.preprocessing.picture_transforms import (
    apply_affine_transform,
    apply_brightness_shift,
    apply_channel_shift,
)
from weft.networks.state.defaults import floatx, image_data_format


class ImageDataGenerator:
    """Gives batches of pictures, each changed anew: turned, shifted, sheared, zoomed, flipped, other colours, normalized.

        generator = tf.keras.preprocessing.image.ImageDataGenerator(rescale=1 / 255, rotation_range=20, horizontal_flip=True)
        model.fit_generator(generator.flow_from_directory("pictures/train", target_size=(64, 64)), epochs=5)

    Args:
        featurewise_center, featurewise_std_normalization: take the mean of the data that `fit` saw from each picture; divide
            it by their deviation.
        samplewise_center, samplewise_std_normalization: the same by each picture's own mean and deviation.
        zca_whitening, zca_epsilon: let pixels vary independently, as `fit` found them to vary.
        rotation_range: turn by up to so many degrees.
        width_shift_range, height_shift_range: shift by up to this part of the size, below 1, or by up to so many pixels; or by
            one of a list, either way.
        brightness_range: the least and the greatest factor of brightness.
        shear_range: shear by up to so many degrees.
        zoom_range: zoom by a factor between its two, or between 1 - zoom_range and 1 + zoom_range.
        channel_shift_range: add up to so much to all channels.
        fill_mode, cval: what stands beyond the edges; see `apply_affine_transform`.
        horizontal_flip, vertical_flip: flip every other picture.
        rescale: a factor, applied after the changes.
        preprocessing_function: applied before the factor.
        data_format: "channels_last" or "channels_first"; Keras's `image_data_format` when None.
        validation_split: which part of the data is the subset "validation".
        dtype: the type of the batches; Keras's `floatx` when None.

    Raises:
        ValueError: an argument has no such value.
    """

    __repr__ = printed("tf.keras.preprocessing.image")

    def __init__(
        self, featurewise_center: bool = False, samplewise_center: bool = False,
        featurewise_std_normalization: bool = False, samplewise_std_normalization: bool = False,
        zca_whitening: bool = False, zca_epsilon: float = 1e-6, rotation_range: float = 0, width_shift_range: Nest = 0.0,
        height_shift_range: Nest = 0.0, brightness_range: Sequence[float] | None = None, shear_range: float = 0.0,
        zoom_range: float | Sequence[float] = 0.0, channel_shift_range: float = 0.0, fill_mode: str = "nearest",
        cval: float = 0.0, horizontal_flip: bool = False, vertical_flip: bool = False, rescale: float | None = None,
        preprocessing_function: Callable[[Array], Array] | None = None, data_format: str | None = None,
        validation_split: float = 0.0, dtype: str | None = None,
    ) -> None:  # fmt: skip
        self.featurewise_center = featurewise_center
        self.samplewise_center = samplewise_center
        self.featurewise_std_normalization = featurewise_std_normalization
        self.samplewise_std_normalization = samplewise_std_normalization
        self.zca_whitening = zca_whitening
        self.zca_epsilon = zca_epsilon
        self.rotation_range = rotation_range
        self.width_shift_range = width_shift_range
        self.height_shift_range = height_shift_range
        self.brightness_range = brightness_range
        self.shear_range = shear_range
        self.zoom_range = _zoom_range(zoom_range)
        self.channel_shift_range = channel_shift_range
        self.fill_mode = fill_mode
        self.cval = cval
        self.horizontal_flip = horizontal_flip
        self.vertical_flip = vertical_flip
        self.rescale = rescale
        self.preprocessing_function = preprocessing_function
        self.data_format = data_format or image_data_format()
        self.dtype = dtype or floatx()
        self._validation_split = validation_split
        self.mean: Array | None = None
        self.std: Array | None = None
        self.principal_components: Array | None = None
        self._check()
        self.channel_axis, self.row_axis, self.col_axis = (1, 2, 3) if self.data_format == "channels_first" else (3, 1, 2)

    @property
    def validation_split(self) -> float:
        """Which part of the data is the subset "validation"."""
        return self._validation_split

    def _check(self) -> None:
        if self.data_format not in ("channels_last", "channels_first"):
            raise ValueError(
                '`data_format` should be `"channels_last"` (channel after row and column) or `"channels_first"` (channel '
                f"before row and column). Received: {self.data_format}"
            )
        if self._validation_split and not 0 < self._validation_split < 1:
            raise ValueError(f"`validation_split` must be strictly between 0 and 1.  Received: {self._validation_split}")
        bright = self.brightness_range
        if bright is not None and (not isinstance(bright, tuple | list) or len(bright) != 2):
            raise ValueError(f"`brightness_range should be tuple or list of two floats. Received: {bright}")
        if self.zca_whitening and self.featurewise_std_normalization:
            self.featurewise_std_normalization = False
            _warn_of_override("zca_whitening", "featurewise_std_normalization")
        for needs, center in (
            ("zca_whitening", "featurewise_center"), ("featurewise_std_normalization", "featurewise_center"),
            ("samplewise_std_normalization", "samplewise_center"),
        ):  # fmt: skip
            if getattr(self, needs) and not getattr(self, center):
                setattr(self, center, True)
                _warn_of_override(needs, center)

    def flow(
        self, x: Nest, y: Nest = None, batch_size: int = 32, shuffle: bool = True, sample_weight: Nest = None,
        seed: int | None = None, save_to_dir: str | None = None, save_prefix: str = "", save_format: str = "png",
        subset: str | None = None,
    ) -> NumpyArrayIterator:  # fmt: skip
        """Batches without end of pictures in memory.

        Args:
            x: `[pictures, height, width, channels]`; or a list of these and of what goes with them unchanged.
            y: the labels.
            batch_size: how many are in a batch.
            shuffle: whether to mix them.
            sample_weight: a weight for each.
            seed: of NumPy's random numbers.
            save_to_dir, save_prefix, save_format: a folder to write the changed pictures to, and how.
            subset: "training" or "validation", by `validation_split`.

        Returns:
            An iterator of pictures, (pictures, labels) or (pictures, labels, weights).

        Raises:
            ValueError: lengths differ, or the rank is not 4.
        """
        return NumpyArrayIterator(
            x, y, self, batch_size=batch_size, shuffle=shuffle, sample_weight=sample_weight, seed=seed,
            data_format=self.data_format, save_to_dir=save_to_dir, save_prefix=save_prefix, save_format=save_format,
            subset=subset, dtype=self.dtype,
        )  # fmt: skip

    def flow_from_directory(
        self, directory: str, target_size: tuple[int, int] = (256, 256), color_mode: str = "rgb",
        classes: Sequence[str] | None = None, class_mode: str | None = "categorical", batch_size: int = 32,
        shuffle: bool = True, seed: int | None = None, save_to_dir: str | None = None, save_prefix: str = "",
        save_format: str = "png", follow_links: bool = False, subset: str | None = None, interpolation: str = "nearest",
    ) -> DirectoryIterator:  # fmt: skip
        """Batches without end of the pictures in the folders of a folder, one folder for each class.

        Args:
            directory: the folder.
            target_size: height and width of the batches.
            color_mode: "grayscale", "rgb" or "rgba".
            classes: the folders' names, in the order of their numbers; all, sorted, when None.
            class_mode: "categorical" for one-hot labels, "binary" or "sparse" for numbers, "input" for the pictures
                themselves, None for no labels.
            batch_size, shuffle, seed, save_to_dir, save_prefix, save_format, subset: see `flow`.
            follow_links: whether to go into linked folders.
            interpolation: see `load_img`.

        Returns:
            An iterator of pairs: pictures `[batch_size, height, width, channels]` of the generator's dtype, and labels as
            `class_mode` says.

        Raises:
            ValueError: an argument has no such value.
        """
        return DirectoryIterator(
            directory, self, target_size=target_size, color_mode=color_mode, classes=classes, class_mode=class_mode,
            data_format=self.data_format, batch_size=batch_size, shuffle=shuffle, seed=seed, save_to_dir=save_to_dir,
            save_prefix=save_prefix, save_format=save_format, follow_links=follow_links, subset=subset,
            interpolation=interpolation, dtype=self.dtype,
        )  # fmt: skip

    def flow_from_dataframe(
        self, dataframe: Nest, directory: str | None = None, x_col: str = "filename", y_col: str | Sequence[str] = "class",
        weight_col: str | None = None, target_size: tuple[int, int] = (256, 256), color_mode: str = "rgb",
        classes: Sequence[str] | None = None, class_mode: str | None = "categorical", batch_size: int = 32,
        shuffle: bool = True, seed: int | None = None, save_to_dir: str | None = None, save_prefix: str = "",
        save_format: str = "png", subset: str | None = None, interpolation: str = "nearest",
        validate_filenames: bool = True, **kwargs: Options,
    ) -> DataFrameIterator:  # fmt: skip
        """Batches without end of the picture files that a table names, with labels of its columns.

        Args:
            dataframe: the table: a DataFrame of pandas, or columns by name.
            directory: the folder of the files; None where the table has whole paths.
            x_col, y_col, weight_col: the columns of files, of labels (a list of columns for several) and of weights.
            target_size: height and width of the batches.
            color_mode: "grayscale", "rgb" or "rgba".
            classes: the labels that count; all when None. Their numbers go by the alphabet.
            class_mode: "categorical", "binary" or "sparse" for named classes, "raw" for the column's values, "multi_output"
                for a list of columns' values, "input" for the pictures themselves, None for no labels.
            batch_size, shuffle, seed, save_to_dir, save_prefix, save_format, subset: see `flow`.
            interpolation: see `load_img`.
            validate_filenames: whether rows whose file is no picture are left out, with a warning.
            kwargs: what former versions took, without effect.

        Returns:
            An iterator of pairs: pictures `[batch_size, height, width, channels]` of the generator's dtype, and labels as
            `class_mode` says.

        Raises:
            ValueError: an argument has no such value. TypeError: a column has other values than its use needs.
        """
        if "has_ext" in kwargs:
            warnings.warn("has_ext is deprecated, filenames in the dataframe have to match the exact filenames in disk.",
                          DeprecationWarning, stacklevel=2)  # fmt: skip
        if class_mode == "other":
            warnings.warn(
                '`class_mode` "other" is deprecated, please use `class_mode` "raw".', DeprecationWarning, stacklevel=2
            )
            class_mode = "raw"
        return DataFrameIterator(
            dataframe, directory, self, x_col=x_col, y_col=y_col, weight_col=weight_col, target_size=target_size,
            color_mode=color_mode, classes=classes, class_mode=class_mode, data_format=self.data_format,
            batch_size=batch_size, shuffle=shuffle, seed=seed, save_to_dir=save_to_dir, save_prefix=save_prefix,
            save_format=save_format, subset=subset, interpolation=interpolation, dtype=self.dtype,
            validate_filenames=validate_filenames,
        )  # fmt: skip

    def standardize(self, x: Array) -> Array:
        """A picture normalized as asked for; changes `x`.

        Args:
            x: `[height, width, channels]`, floats.
        """
        if self.preprocessing_function:
            x = self.preprocessing_function(x)
        if self.rescale:
            x *= self.rescale
        if self.samplewise_center:
            x -= np.mean(x, keepdims=True)
        if self.samplewise_std_normalization:
            x /= np.std(x, keepdims=True) + 1e-6
        if self.featurewise_center and self._has_fitted(self.mean, "featurewise_center"):
            x -= self.mean
        if self.featurewise_std_normalization and self._has_fitted(self.std, "featurewise_std_normalization"):
            x /= np.asarray(self.std) + 1e-6
        if self.zca_whitening and self._has_fitted(self.principal_components, "zca_whitening"):
            x = (np.reshape(x, (-1, x.size)) @ self.principal_components).reshape(x.shape)
        return x

    def _has_fitted(self, value: Array | None, option: str) -> bool:
        if value is None:
            warnings.warn(
                f"This ImageDataGenerator specifies `{option}`, but it hasn't been fit on any training data. Fit it first by "
                "calling `.fit(numpy_data)`.",
                stacklevel=3,
            )
        return value is not None

    def get_random_transform(self, img_shape: Sequence[int], seed: int | None = None) -> dict[str, Nest]:
        """What to do to a picture of some shape, drawn by NumPy: angles, pixels, factors.

        Args:
            img_shape: the shape of a picture, without the batch.
            seed: the seed for NumPy's generator, which goes on where it is when None.
        """
        if seed is not None:
            np.random.seed(seed)
        theta = np.random.uniform(-self.rotation_range, self.rotation_range) if self.rotation_range else 0
        tx = _shift(self.height_shift_range, img_shape[self.row_axis - 1])
        ty = _shift(self.width_shift_range, img_shape[self.col_axis - 1])
        shear = np.random.uniform(-self.shear_range, self.shear_range) if self.shear_range else 0
        zx, zy = (1, 1) if self.zoom_range == [1, 1] else np.random.uniform(self.zoom_range[0], self.zoom_range[1], 2)
        horizontal = (np.random.random() < 0.5) * self.horizontal_flip
        vertical = (np.random.random() < 0.5) * self.vertical_flip
        colour, bright = self.channel_shift_range, self.brightness_range
        return {
            "theta": theta, "tx": tx, "ty": ty, "shear": shear, "zx": zx, "zy": zy,
            "flip_horizontal": horizontal, "flip_vertical": vertical,
            "channel_shift_intensity": np.random.uniform(-colour, colour) if colour else None,
            "brightness": None if bright is None else np.random.uniform(bright[0], bright[1]),
        }  # fmt: skip

    def apply_transform(self, x: Array, transform_parameters: dict[str, Nest]) -> Array:
        """A picture changed so; what the dict does not name is left as it is.

        Args:
            x: `[height, width, channels]`.
            transform_parameters: as `get_random_transform` gives them.
        """
        chosen = transform_parameters
        affine = {key: chosen[key] for key in ("theta", "tx", "ty", "shear", "zx", "zy") if key in chosen}
        rows, columns, channels = self.row_axis - 1, self.col_axis - 1, self.channel_axis - 1
        x = apply_affine_transform(
            x, row_axis=rows, col_axis=columns, channel_axis=channels, fill_mode=self.fill_mode, cval=self.cval, **affine
        )
        if chosen.get("channel_shift_intensity") is not None:
            x = apply_channel_shift(x, chosen["channel_shift_intensity"], channels)
        if chosen.get("flip_horizontal"):
            x = np.flip(x, columns)
        if chosen.get("flip_vertical"):
            x = np.flip(x, rows)
        return x if chosen.get("brightness") is None else apply_brightness_shift(x, chosen["brightness"])

    def random_transform(self, x: Array, seed: int | None = None) -> Array:
        """A picture, `[height, width, channels]`, changed at random.

        Args:
            x: `[height, width, channels]`.
            seed: as for `get_random_transform`.
        """
        return self.apply_transform(x, self.get_random_transform(x.shape, seed))

    def fit(self, x: Nest, augment: bool = False, rounds: int = 1, seed: int | None = None) -> None:
        """Find the mean, the deviation and the components that the `featurewise` options and whitening need.

        Args:
            x: pictures, `[pictures, height, width, channels]`.
            augment: whether to change them at random before.
            rounds: how often.
            seed: of NumPy's random numbers.

        Raises:
            ValueError: the rank is not 4.
        """
        x = np.array(x, dtype=self.dtype)
        if x.ndim != 4:
            raise ValueError(f"Input to `.fit()` should have rank 4. Got array with shape: {x.shape}")
        if seed is not None:
            np.random.seed(seed)
        if self.rescale:
            x *= self.rescale
        if augment:
            x = np.stack([self.random_transform(picture) for _ in range(rounds) for picture in x]).astype(self.dtype)
        around = (0, self.row_axis, self.col_axis)
        if self.featurewise_center:
            self.mean = np.mean(x, axis=around, keepdims=True)[0]
            x -= self.mean
        if self.featurewise_std_normalization:
            self.std = np.std(x, axis=around, keepdims=True)[0]
            x /= self.std + 1e-6
        if self.zca_whitening:
            flat = x.reshape(len(x), -1)
            left, values, _ = importlib.import_module("scipy.linalg").svd(flat.T @ flat / len(flat))
            self.principal_components = (left / np.sqrt(values[np.newaxis] + self.zca_epsilon)) @ left.T


def _zoom_range(given: float | Sequence[float]) -> list[float]:
    if isinstance(given, int | float):
        return [1 - given, 1 + given]
    if len(given) != 2:
        raise ValueError(f"`zoom_range` should be a float or a tuple or list of two floats. Received: {given}")
    return [given[0], given[1]]


def _shift(allowed: Nest, size: int) -> float:
    """How far to shift: by one of a list or below an integer, either way, or by up to a part of the size."""
    if not np.any(allowed):
        return 0
    try:
        by = np.random.choice(allowed) * np.random.choice([-1, 1])
    except ValueError:
        by = np.random.uniform(-allowed, allowed)
    return float(by * size if np.max(allowed) < 1 else by)


def _warn_of_override(option: str, other: str) -> None:
    warnings.warn(f"This ImageDataGenerator specifies `{option}`, which overrides setting of `{other}`.", stacklevel=4)
