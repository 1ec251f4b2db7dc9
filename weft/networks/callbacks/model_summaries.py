"""The summaries of a model's weights, of their gradients and of the layers' outputs, as TensorFlow's callback names them."""

from __future__ import annotations

from collections.abc import Iterator

from weft.framework.building.aliases import VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.networks.config import KerasObject
from weft.ops.array.shape_ops import reshape, squeeze
from weft.ops.array.transposing import transpose
from weft.ops.summary.merge import merge_all
from weft.ops.summary.nodes import histogram, image


def summary_of(model: KerasObject, with_gradients: bool, with_images: bool) -> Tensor:
    """All summaries of a model's graph, the program's own too, merged: a serialized Summary.

    Args:
        model: a model that is compiled and built, in whose graph they are made.
        with_gradients: whether there are histograms of the gradients of the weights that are trained.
        with_images: whether weights of one, two or three dimensions are pictures too.
    """
    for layer in model.layers:
        for weight in layer.weights:
            name = _tag(weight)
            histogram(name, weight)
            picture = _picture(convert_to_tensor(weight)) if with_images else None
            if picture is not None:
                image(name, picture)
        if with_gradients:
            for weight in layer.trainable_weights:
                _add_gradient(model, weight)
        for name, output in _outputs(layer):
            histogram(name, output)
    return merge_all()


def _tag(weight: VariableLike) -> str:
    return str(weight.name).replace(":", "_")


def _add_gradient(model: KerasObject, weight: VariableLike) -> None:
    (found,) = model.optimizer.get_gradients(model.compilation.program().loss, [weight])
    histogram(f"{_tag(weight)}_grad", getattr(found, "values", found))


def _outputs(layer: KerasObject) -> Iterator[tuple[str, Tensor]]:
    """The outputs of a layer's first call, with the names of their histograms; none of a layer that was not called."""
    if not layer.inbound_nodes:
        return
    if isinstance(layer.output, list):
        yield from ((f"{layer.name}_out_{index}", each) for index, each in enumerate(layer.output))
    else:
        yield f"{layer.name}_out", layer.output


def _picture(weight: Tensor) -> Tensor | None:
    """A weight as pictures, `[pictures, height, width, 1]`; None where its rank has no picture."""
    flat = squeeze(weight)
    sizes = [int(size or 0) for size in flat.shape.as_list()]
    if len(sizes) == 1:
        return reshape(flat, [1, sizes[0], 1, 1])
    if len(sizes) == 2:
        # Lying rather than standing.
        lying = transpose(flat) if sizes[0] > sizes[1] else flat
        return reshape(lying, [1, *sorted(sizes), 1])
    if len(sizes) == 3:
        return reshape(transpose(flat, [2, 0, 1]), [sizes[2], sizes[0], sizes[1], 1])
    return None
