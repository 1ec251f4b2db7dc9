"""contrib.layers' images as sequences of their columns, for recurrent networks, and back."""

from __future__ import annotations

from weft.framework.building.aliases import Collections, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.models.functional.layer_outputs import collected
from weft.ops.arg_scope import add_arg_scope
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.array.transposing import transpose
from weft.ops.input_scope import input_scope


@add_arg_scope
def images_to_sequence(
    inputs: TensorLike, data_format: str = "NHWC", outputs_collections: Collections = None, scope: str | None = None
) -> Tensor:
    """A batch of images as a batch of sequences: each row of an image is one, each column a step.

    Args:
        inputs: `[images, height, width, depth]`, or `[images, depth, height, width]` for "NCHW".
        data_format: "NHWC" or "NCHW".
        outputs_collections: where to add the result.
        scope: a name for the nodes' scope.

    Returns:
        `[width, images * height, depth]`.

    Raises:
        ValueError: the data format is another one.
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"data_format has to be either NCHW or NHWC. It is {data_format!r}.")
    with input_scope(scope, "ImagesToSequence", [inputs]) as opened:
        images = convert_to_tensor(inputs)
        if data_format == "NCHW":
            images = transpose(images, [0, 2, 3, 1])
        _, _, width, depth = images.get_shape().as_list()
        sizes = shape(images)
        outputs = reshape(transpose(images, [2, 0, 1, 3]), [width, sizes[0] * sizes[1], depth])
        return collected(outputs_collections, opened, outputs)


@add_arg_scope
def sequence_to_images(
    inputs: TensorLike,
    height: int,
    output_data_format: str = "channels_last",
    outputs_collections: Collections = None,
    scope: str | None = None,
) -> Tensor:
    """What `images_to_sequence` undoes: a batch of sequences as a batch of images.

    Args:
        inputs: `[width, images * height, depth]`.
        height: the images' height.
        output_data_format: "channels_last" or "channels_first".
        outputs_collections: where to add the result.
        scope: a name for the nodes' scope.

    Returns:
        `[images, height, width, depth]`, or `[images, depth, height, width]`.
    """
    with input_scope(scope, "SequenceToImages", [inputs]) as opened:
        sequences = convert_to_tensor(inputs)
        width, rows, depth = sequences.get_shape().as_list()
        images = reshape(sequences, [width, -1 if rows is None else rows // height, height, depth])
        outputs = transpose(images, [1, 3, 2, 0] if output_data_format == "channels_first" else [1, 2, 0, 3])
        return collected(outputs_collections, opened, outputs)
