"""tf.keras.preprocessing.image: turned, shifted, sheared and zoomed pictures, and such with other colours.

NumPy draws the numbers. The `random_` functions turn, shear and zoom around the centre of the first two axes whatever
`row_axis` and `col_axis` say, as those of Keras do: programs get the pictures that they got there.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import reduce

import numpy as np

from weft.framework.building.aliases import Array
from weft.networks.preprocessing.pictures import array_to_img, img_to_array


def apply_affine_transform(
    x: Array, theta: float = 0, tx: float = 0, ty: float = 0, shear: float = 0, zx: float = 1, zy: float = 1,
    row_axis: int = 0, col_axis: int = 1, channel_axis: int = 2, fill_mode: str = "nearest", cval: float = 0.0,
    order: int = 1,
) -> Array:  # fmt: skip
    """A picture turned, shifted, sheared and zoomed around its centre.

    Args:
        x: the picture, of rank 3.
        theta: how far to turn, in degrees.
        tx, ty: how many pixels to shift, down and to the right.
        shear: the shear's angle, in degrees.
        zx, zy: the zoom of height and width; less than 1 is nearer.
        row_axis, col_axis, channel_axis: where the picture has what.
        fill_mode: what stands beyond the edges: "constant", "nearest", "reflect" or "wrap".
        cval: the value for "constant".
        order: of the splines between pixels.
    """
    steps = []
    if theta != 0:
        angle = np.deg2rad(theta)
        steps.append([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    if tx != 0 or ty != 0:
        steps.append([[1, 0, tx], [0, 1, ty], [0, 0, 1]])
    if shear != 0:
        angle = np.deg2rad(shear)
        steps.append([[1, -np.sin(angle), 0], [0, np.cos(angle), 0], [0, 0, 1]])
    if zx != 1 or zy != 1:
        steps.append([[zx, 0, 0], [0, zy, 0], [0, 0, 1]])
    if not steps:
        return x
    row, column = x.shape[row_axis] / 2 + 0.5, x.shape[col_axis] / 2 + 0.5
    there, back = np.eye(3), np.eye(3)
    there[:2, 2], back[:2, 2] = (row, column), (-row, -column)
    matrix = there @ reduce(np.dot, map(np.array, steps)) @ back
    transform = importlib.import_module("scipy.ndimage").affine_transform
    channels = [
        transform(each, matrix[:2, :2], matrix[:2, 2], order=order, mode=fill_mode, cval=cval)
        for each in np.moveaxis(x, channel_axis, 0)
    ]
    return np.moveaxis(np.stack(channels), 0, channel_axis)


def apply_channel_shift(x: Array, intensity: float, channel_axis: int = 0) -> Array:
    """A picture with `intensity` added to each channel, within the least and the greatest value that it had.

    Args:
        x: the picture, of rank 3.
        intensity: what is added.
        channel_axis: the dimension of the channels.
    """
    return np.clip(np.asarray(x) + np.asarray(intensity, x.dtype), np.min(x), np.max(x))


def apply_brightness_shift(x: Array, brightness: float) -> Array:
    """A picture made darker, below 1, or brighter; its values are stretched to 0 to 255 before.

    Args:
        x: the picture, `[rows, columns, channels]`.
        brightness: the factor.

    Raises:
        ImportError: Pillow is not installed.
    """
    picture = array_to_img(x)
    enhance = importlib.import_module("PIL.ImageEnhance")
    return img_to_array(enhance.Brightness(picture).enhance(brightness))


def random_rotation(
    x: Array, rg: float, row_axis: int = 1, col_axis: int = 2, channel_axis: int = 0, fill_mode: str = "nearest",
    cval: float = 0.0, interpolation_order: int = 1,
) -> Array:  # fmt: skip
    """A picture turned by up to `rg` degrees either way.

    Args:
        x: the picture, of rank 3.
        rg: the greatest angle, in degrees.
        row_axis, col_axis, channel_axis: which dimension is which.
        fill_mode: what is seen outside: "nearest", "constant", "reflect" or "wrap".
        cval: the number outside with "constant".
        interpolation_order: of the spline, 0 to 5.
    """
    theta = np.random.uniform(-rg, rg)
    return apply_affine_transform(
        x, theta=theta, channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=interpolation_order
    )


def random_shift(
    x: Array, wrg: float, hrg: float, row_axis: int = 1, col_axis: int = 2, channel_axis: int = 0,
    fill_mode: str = "nearest", cval: float = 0.0, interpolation_order: int = 1,
) -> Array:  # fmt: skip
    """A picture shifted by up to a part `wrg` of its width and `hrg` of its height.

    Args:
        x: the picture, of rank 3.
        wrg, hrg: the greatest parts of width and height.
        row_axis, col_axis, channel_axis: which dimension is which.
        fill_mode: what is seen outside: "nearest", "constant", "reflect" or "wrap".
        cval: the number outside with "constant".
        interpolation_order: of the spline, 0 to 5.
    """
    tx = np.random.uniform(-hrg, hrg) * x.shape[row_axis]
    ty = np.random.uniform(-wrg, wrg) * x.shape[col_axis]
    return apply_affine_transform(
        x, tx=tx, ty=ty, channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=interpolation_order
    )


def random_shear(
    x: Array, intensity: float, row_axis: int = 1, col_axis: int = 2, channel_axis: int = 0, fill_mode: str = "nearest",
    cval: float = 0.0, interpolation_order: int = 1,
) -> Array:  # fmt: skip
    """A picture sheared by up to `intensity` degrees.

    Args:
        x: the picture, of rank 3.
        intensity: the greatest angle, in degrees.
        row_axis, col_axis, channel_axis: which dimension is which.
        fill_mode: what is seen outside: "nearest", "constant", "reflect" or "wrap".
        cval: the number outside with "constant".
        interpolation_order: of the spline, 0 to 5.
    """
    shear = np.random.uniform(-intensity, intensity)
    return apply_affine_transform(
        x, shear=shear, channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=interpolation_order
    )


def random_zoom(
    x: Array, zoom_range: Sequence[float], row_axis: int = 1, col_axis: int = 2, channel_axis: int = 0,
    fill_mode: str = "nearest", cval: float = 0.0, interpolation_order: int = 1,
) -> Array:  # fmt: skip
    """A picture zoomed by factors between the two of `zoom_range`, one for each direction.

    Args:
        x: the picture, of rank 3.
        zoom_range: the least and the greatest factor.
        row_axis, col_axis, channel_axis: which dimension is which.
        fill_mode: what is seen outside: "nearest", "constant", "reflect" or "wrap".
        cval: the number outside with "constant".
        interpolation_order: of the spline, 0 to 5.

    Raises:
        ValueError: these are not two.
    """
    if len(zoom_range) != 2:
        raise ValueError(f"`zoom_range` should be a tuple or list of two floats. Received: {zoom_range}")
    zx, zy = (1, 1) if tuple(zoom_range) == (1, 1) else np.random.uniform(zoom_range[0], zoom_range[1], 2)
    return apply_affine_transform(
        x, zx=zx, zy=zy, channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=interpolation_order
    )


def random_channel_shift(x: Array, intensity_range: float, channel_axis: int = 0) -> Array:
    """A picture with up to `intensity_range` added to its channels, or taken from them.

    Args:
        x: the picture, of rank 3.
        intensity_range: the greatest sum that is added.
        channel_axis: the dimension of the channels.
    """
    return apply_channel_shift(x, np.random.uniform(-intensity_range, intensity_range), channel_axis)


def random_brightness(x: Array, brightness_range: Sequence[float]) -> Array:
    """A picture with a brightness between the two of `brightness_range`.

    Args:
        x: the picture, `[rows, columns, channels]`.
        brightness_range: the least and the greatest factor.

    Raises:
        ValueError: these are not two.
    """
    if len(brightness_range) != 2:
        raise ValueError(f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}")
    return apply_brightness_shift(x, np.random.uniform(brightness_range[0], brightness_range[1]))
