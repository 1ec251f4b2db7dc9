"""Forms of KernelGradient for ops on images: resizing, crops, patches and dilation have gradient ops in TensorFlow."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.op_builder import build
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.registry.op_registry import lookup
from weft.ops.array.patches import extract_image_patches_node
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.image.backward import crop_and_resize_grad_boxes, crop_and_resize_grad_image, resize_nearest_neighbor_grad
from weft.ops.image.boxes import crop_and_resize_node
from weft.ops.image.resampling import resize_nearest_neighbor_node
from weft.ops.linalg.matrix_parts import eye
from weft.ops.nn.conv_op import conv2d_backprop_input
from weft.ops.nn.morphology import dilation2d_node
from weft.ops.tensorflow_forms.derivatives import derivative


@derivative(resize_nearest_neighbor_node)
def _nearest(node: Operation, inputs: Sequence[Tensor], grads: Sequence[Tensor]) -> dict[int, Tensor]:
    attrs = node.attrs["f"].attrs
    given = {key: attrs[key] for key in ("align_corners", "half_pixel_centers")}
    return {0: resize_nearest_neighbor_grad(grads[0], shape(inputs[0])[1:3], **given)}


@derivative(crop_and_resize_node)
def _crops(node: Operation, inputs: Sequence[Tensor], grads: Sequence[Tensor]) -> dict[int, Tensor] | None:
    image, boxes, box_ind, _ = inputs
    method = node.attrs["f"].attrs["method"]
    if method != "bilinear":
        return None
    of_image = crop_and_resize_grad_image(grads[0], boxes, box_ind, shape(image), T=image.dtype, method=method)
    return {0: of_image, 1: crop_and_resize_grad_boxes(grads[0], image, boxes, box_ind, method=method)}


@derivative(dilation2d_node)
def _dilation(node: Operation, inputs: Sequence[Tensor], grads: Sequence[Tensor]) -> dict[int, Tensor]:
    attrs = {key: node.attrs["f"].attrs[key] for key in ("T", "strides", "rates", "padding")}
    names = ("Dilation2DBackpropInput", "Dilation2DBackpropFilter")
    return {place: build(lookup(name), [*inputs, grads[0]], attrs, None).outputs[0] for place, name in enumerate(names)}


@derivative(extract_image_patches_node)
def _patches(node: Operation, inputs: Sequence[Tensor], grads: Sequence[Tensor]) -> dict[int, Tensor] | None:
    attrs, dims = node.attrs["f"].attrs, inputs[0].dims
    _, rows, columns, _ = attrs["ksizes"]
    if dims is None or dims[3] is None or list(attrs["rates"]) != [1, 1, 1, 1]:
        return None
    # Patches are a convolution whose filters take one element of the window each.
    length = rows * columns * dims[3]
    filters = reshape(eye(length, dtype=inputs[0].dtype), [rows, columns, dims[3], length])
    how = {"strides": attrs["strides"], "padding": attrs["padding"]}
    return {0: conv2d_backprop_input(shape(inputs[0]), filters, grads[0], **how)}
