"""Polyharmonic splines: functions through given values at given points, and images warped by them between a few points."""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.framework.building.aliases import Array, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones_like, zeros
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import tile
from weft.ops.array.transposing import matrix_transpose
from weft.ops.image.warp import dense_image_warp
from weft.ops.input_scope import input_scope
from weft.ops.linalg.decompositions import matrix_solve
from weft.ops.linalg.matrix_parts import eye
from weft.ops.math.comparison import maximum
from weft.ops.math.elementwise import square
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import log, sqrt

# Squares of distances are at least this, so that roots and logarithms have derivatives.
_LEAST: Final = 1e-10


def _squared_distances(x: Tensor, y: Tensor) -> Tensor:
    """`[batch, m, d]` and `[batch, n, d]` to `[batch, m, n]`."""
    of_x, of_y = (reduce_sum(square(each), 2, keepdims=True) for each in (x, y))
    return of_x - 2.0 * matmul(x, y, transpose_b=True) + matrix_transpose(of_y)


def _radial(squares: Tensor, order: float) -> Tensor:
    """The spline's function of a distance r, given as its square: r^order, times log r where the order is even."""
    least = maximum(squares, constant(_LEAST, squares.dtype))
    if order == 1:
        return sqrt(least)
    if order == 2:
        return 0.5 * squares * log(least)
    if order == 4:
        return 0.5 * square(squares) * log(least)
    power = least ** (0.5 * order)
    return 0.5 * power * log(least) if order % 2 == 0 else power


def _with_ones(points: Tensor) -> Tensor:
    return concat([points, ones_like(points[..., :1])], 2)


def _solved(points: Tensor, values: Tensor, order: float, regularization_weight: float) -> tuple[Tensor, Tensor]:
    """The weights of the points `[batch, n, k]`, and of the linear part `[batch, d + 1, k]`."""
    sizes = shape(points)
    count, linear = sizes[1], _with_ones(points)
    between = _radial(_squared_distances(points, points), order)
    if regularization_weight > 0:
        between = between + regularization_weight * eye(count, dtype=points.dtype)
    unknown = sizes[2] + 1
    above = concat([between, linear], 2)
    below = concat([matrix_transpose(linear), zeros(stack([sizes[0], unknown, unknown]), points.dtype)], 2)
    wanted = concat([values, zeros(stack([sizes[0], unknown, shape(values)[2]]), points.dtype)], 1)
    found = matrix_solve(concat([above, below], 1), wanted)
    return found[:, :count], found[:, count:]


def interpolate_spline(
    train_points: TensorLike, train_values: TensorLike, query_points: TensorLike, order: float,
    regularization_weight: float = 0.0, name: str = "interpolate_spline",
) -> Tensor:  # fmt: skip
    """The values at some points of a polyharmonic spline that has given values at other points.

    Args:
        train_points: `[batch, n, d]` floats, at least d + 1 of them not on one plane.
        train_values: `[batch, n, k]`, what the spline is there.
        query_points: `[batch, m, d]`.
        order: 1 for linear in one dimension, 2 for thin plates in two; above 0.
        regularization_weight: the greater, the smoother the spline, and the farther from the values.
        name: the name scope.

    Returns:
        `[batch, m, k]`.

    Raises:
        ValueError: a tensor has another rank, or the order is not above 0.

    >>> points, values = [[[0.0], [1.0], [2.0]]], [[[0.0], [2.0], [0.0]]]
    >>> sess.run(tf.contrib.image.interpolate_spline(points, values, [[[0.5]]], order=1)).round(4)
    array([[[1.]]], dtype=float32)
    """
    if order <= 0:
        raise ValueError(f"interpolate_spline: order must be above 0, not {order}")
    with input_scope(name, "interpolate_spline", (train_points, train_values, query_points)):
        points = convert_to_tensor(train_points)
        values, query = (convert_to_tensor(each, dtype=points.dtype.base_dtype) for each in (train_values, query_points))
        for what, given in (("train_points", points), ("train_values", values), ("query_points", query)):
            if given.shape.ndims not in (None, 3):
                raise ValueError(f"interpolate_spline: {what} must have 3 dimensions, but its shape is {given.shape}")
        with get_default_graph().name_scope("solve"):
            of_points, of_plane = _solved(points, values, order, regularization_weight)
        with get_default_graph().name_scope("predict"):
            rounded = matmul(_radial(_squared_distances(query, points), order), of_points)
            made = rounded + matmul(_with_ones(query), of_plane)
        made.set_shape([query.shape[0], query.shape[1], values.shape[2]])
        return made


def _grid(height: int, width: int) -> Array:
    """The places of all pixels, rows first: `[height * width, 2]`."""
    return np.stack(np.meshgrid(np.arange(height), np.arange(width), indexing="ij"), axis=-1).reshape(-1, 2)


def _border(height: int, width: int, on_each_edge: int) -> Array:
    """The corners, and places between them on each edge: `[places, 2]`."""
    rows, columns = (np.linspace(0, size - 1, on_each_edge + 2) for size in (height, width))
    places = np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2)
    return places[np.isin(places[:, 0], rows[[0, -1]]) | np.isin(places[:, 1], columns[[0, -1]])]


def _for_each(places: Array, batch: Tensor, like: Tensor) -> Tensor:
    """Places for each example of a batch, of the type of others: `[batch, places, 2]`."""
    return tile(constant(places[np.newaxis], like.dtype.base_dtype), stack([shape(batch)[0], 1, 1]))


def sparse_image_warp(
    image: TensorLike, source_control_point_locations: TensorLike, dest_control_point_locations: TensorLike,
    interpolation_order: float = 2, regularization_weight: float = 0.0, num_boundary_points: int = 0,
    name: str = "sparse_image_warp",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Images warped so that some points come to others, and what is between them by a spline.

    Args:
        image: `[batch, height, width, channels]` floats of a known height and width.
        source_control_point_locations: `[batch, n, 2]` floats, the points in the images, rows first.
        dest_control_point_locations: `[batch, n, 2]`, where they come to.
        interpolation_order: of the spline, see `interpolate_spline`.
        regularization_weight: the greater, the smoother the warp.
        num_boundary_points: points of the border that stay: 0 for none, 1 for the corners, n for n - 1 more on each edge.
        name: the name scope.

    Returns:
        The warped images, of the shape of `image`, and the flow `[batch, height, width, 2]` that `dense_image_warp` took.

    Raises:
        ValueError: the height or width is not known, or `num_boundary_points` is below 0.
    """
    if num_boundary_points < 0:
        raise ValueError(f"sparse_image_warp: num_boundary_points must be 0 or more, not {num_boundary_points}")
    with input_scope(name, "sparse_image_warp", (image, source_control_point_locations, dest_control_point_locations)):
        image = convert_to_tensor(image)
        source, destination = map(convert_to_tensor, (source_control_point_locations, dest_control_point_locations))
        if image.shape.ndims != 4 or image.shape[1].value is None or image.shape[2].value is None:
            raise ValueError(
                f"sparse_image_warp: the image must be [batch, height, width, channels] of a known height and width, but its "
                f"shape is {image.shape}"
            )
        height, width = image.shape[1].value, image.shape[2].value
        flows = destination - source
        if num_boundary_points > 0:
            still = _for_each(_border(height, width, num_boundary_points - 1), destination, destination)
            destination, flows = concat([destination, still], 1), concat([flows, still * 0.0], 1)
        pixels = _for_each(_grid(height, width), image, destination)
        flow = interpolate_spline(destination, flows, pixels, interpolation_order, regularization_weight)
        flow = reshape(flow, stack([shape(image)[0], height, width, 2]))
        flow.set_shape([*image.shape[:3], 2])
        return dense_image_warp(image, flow), flow
