"""jacobian and batch_jacobian of tensorflow.python.ops.parallel_for.gradients, and products of Hessians and vectors."""

from __future__ import annotations

from collections.abc import Sequence

from weft.autodiff.gradient_rows import looped_rows
from weft.autodiff.gradients import gradients
from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.ops.array.gather_scatter import gather
from weft.ops.array.identity import stop_gradient
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.array.stacking import stack
from weft.ops.math.elementwise import mul


def jacobian(output: Tensor, inputs: Nest, use_pfor: bool = True, parallel_iterations: int | None = None) -> Nest:
    """The derivatives of each element of a tensor: shapes are the output's before the input's.

    Args:
        output: a tensor. The graph gets nodes for each of its elements, or a loop where its shape is not known.
        inputs: a tensor, or a structure of tensors.
        use_pfor, parallel_iterations: accepted; they change no value.

    Returns:
        The derivatives, in the structure of `inputs`; None for an input on which the output does not depend.
    """
    size = output.shape.num_elements()
    sources = nest.flatten(inputs)
    flat = reshape(output, [-1])
    if size is None:
        columns = looped_rows(flat, sources)
    else:
        rows = [gradients(gather(flat, index), sources) for index in range(size)]
        columns = [_stacked([row[place] for row in rows]) for place in range(len(sources))]
    made = [_shaped(column, output, source) for column, source in zip(columns, sources, strict=True)]
    return nest.pack_sequence_as(inputs, made)


def _stacked(parts: Sequence[Nest]) -> Tensor | None:
    if not parts or any(each is None for each in parts):
        return None
    return stack([convert_to_tensor(each) for each in parts], 0)


def _shaped(rows: Tensor | None, output: Tensor, source: Nest) -> Tensor | None:
    if rows is None:
        return None
    made = reshape(rows, concat([shape(output), shape(source)], 0))
    made.set_shape(output.shape.concatenate(source.shape))
    return made


def batch_jacobian(output: Tensor, inp: Tensor, use_pfor: bool = True, parallel_iterations: int | None = None) -> Tensor | None:
    """The derivatives of each example's output for its own input: `[b, ...], [b, ...] -> [b, ..., ...]`.

    Args:
        output: `[b, ...]`, where all but the batch must be known. An example must not depend on another one's input.
        inp: `[b, ...]`.
        use_pfor, parallel_iterations: accepted; there is no loop.

    Returns:
        The derivatives; None if the output does not depend on the input.

    Raises:
        ValueError: the batches differ, or a shape is not known.
    """
    if not output.shape[:1].is_compatible_with(inp.shape[:1]):
        raise ValueError(f"Need first dimension of output shape ({output.shape}) and inp shape ({inp.shape}) to match.")
    size = output.shape[1:].num_elements()
    if size is None:
        raise ValueError(f"batch_jacobian: all but the batch of {output.name} must be known, but it is {output.shape}")
    flat = reshape(output, [-1, size])
    rows = [gradients(flat[:, index], [inp])[0] for index in range(size)]
    if not rows or any(each is None for each in rows):
        return None
    joined = stack([convert_to_tensor(each) for each in rows], 1)
    inner = [each for each in output.shape[1:].as_list() if each is not None]
    made = reshape(joined, concat([shape(inp)[:1], inner, shape(inp)[1:]], 0))
    made.set_shape(output.shape.concatenate(inp.shape[1:]))
    return made


def hessian_vector_product(ys: Nest, xs: Sequence[Nest], v: Sequence[Nest]) -> list[Nest]:
    """The products of the Hessian of a scalar and a vector, without the Hessian: the gradient of the gradient times the vector.

    Args:
        ys: the scalar, or a list of one.
        xs: the tensors or variables that it is differentiated for.
        v: the parts of the vector, one of the shape of each of these.

    Returns:
        For each of `xs` its part of the product; None where there is none.

    Raises:
        ValueError: there are not as many parts as `xs`.
    """
    if len(v) != len(xs):
        raise ValueError("xs and v must have the same length.")
    first = gradients(ys, xs)
    parts = [mul(each, stop_gradient(part)) for each, part in zip(first, v, strict=True) if each is not None]
    return gradients(parts, xs)
