"""Sums of products over dimensions of several tensors: tensordot and einsum."""

from __future__ import annotations

import contextlib
import math
import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims, broadcast_dims, format_dims
from weft.ops.array.gather_scatter import gather_v2_node
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape, shape_internal
from weft.ops.array.transposing import transpose
from weft.ops.declaration import op, unknown
from weft.ops.input_scope import input_scope
from weft.ops.math.complex_numbers import conj
from weft.ops.math.einsum_nodes import tensorflows_nodes
from weft.ops.math.elementwise import NUMBERS
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_prod
from weft.ops.symbolic_gradient import vjp
from weft.platform.machine.product_threads import product_threads

# Einsum.


def split_equation(equation: str, count: int) -> tuple[list[str], str]:
    """The labels of each of so many inputs, and of the output; ValueError where the equation is not well formed."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != count:
        raise ValueError(f"Unexpected number of arguments in equation: expected {len(terms)}, got {count}: {equation!r}")
    allowed = set(string.ascii_letters)
    for term in (*terms, right):
        if term.count("...") > 1 or set(term.replace("...", "", 1)) - allowed:
            raise ValueError(f"Indices have incorrect format: {equation!r}")
    if not arrow:
        letters = "".join(terms).replace(".", "")
        dots = "..." if "..." in left else ""
        right = dots + "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    for letter in set(right.replace(".", "")) - set(left):
        raise ValueError(f"Equation {equation!r}: the output has the label {letter!r}, which no input has")
    return terms, right


def label_sizes(terms: Sequence[str], shapes: Sequence[Dims]) -> tuple[dict[str, int | None], Dims]:
    """The size of each label and of the dots, as far as they are known."""
    sizes: dict[str, int | None] = {}
    dots: Dims = ()
    for term, dims in zip(terms, shapes, strict=True):
        letters = term.replace("...", "")
        if dims is None:
            dots = None if "..." in term else dots
            continue
        extra = len(dims) - len(letters)
        if extra < 0 or (extra > 0 and "..." not in term):
            raise ValueError(f"Expected a tensor of rank {len(letters)} for {term!r} but its shape is {format_dims(dims)}")
        start = term.index("...") if "..." in term else len(letters)
        if "..." in term and dots is not None:
            dots = broadcast_dims(dots, dims[start : start + extra])
        for letter, size in zip(letters, dims[:start] + dims[start + extra :], strict=True):
            known = sizes.get(letter)
            if known is not None and size is not None and known != size:
                raise ValueError(f"Dimensions must be equal, but are {known} and {size}, both of the label {letter!r}")
            sizes[letter] = size if known is None else known
    return sizes, dots


def _einsum_shape(node: Operation) -> list[Dims]:
    equation = node.attrs["equation"]
    if equation.count("->") != 1:
        raise ValueError(f"Expecting exactly one '->' in einsum equation: {equation}")
    terms, right = split_equation(equation, len(node.inputs))
    sizes, dots = label_sizes(terms, [tensor.dims for tensor in node.inputs])
    if "..." not in right:
        return [tuple(sizes.get(letter) for letter in right)]
    if dots is None:
        return [None]
    before, after = right.split("...")
    return [(*(sizes.get(x) for x in before), *dots, *(sizes.get(x) for x in after))]


def _einsum_gradient(node: Operation, grad: Tensor) -> Gradients:
    """Each gradient is again an Einsum, unless labels are repeated in a term, summed away alone, or broadcast by dots."""
    terms, right = split_equation(node.attrs["equation"], len(node.inputs))
    plain = all(len(set(term)) == len(term) and "." not in term for term in (*terms, right))
    result: list[Any] = []
    for index, term in enumerate(terms):
        others = [other for at, other in enumerate(terms) if at != index]
        if not plain or not set(term) <= set(right).union(*others):
            return vjp(node, grad)
        inputs = [conj(tensor) for at, tensor in enumerate(node.inputs) if at != index]
        result.append(einsum_node([grad, *inputs], equation=f"{','.join([right, *others])}->{term}"))
    return result


@op("Einsum", "inputs: N*T -> output: T", infer=_einsum_shape, gradient=_einsum_gradient, limits={"N": 1})
def einsum_node(xp: ArrayModule, inputs: list[Array], *, equation: str) -> Result:
    """The sum of products that an equation such as `ij,jk->ik` describes: `N*[*labels_i] -> [*labels]`."""
    kind = inputs[0].dtype
    if xp is np and kind.kind == "V":
        # NumPy sums no bfloat16.
        return np.einsum(equation, *(each.astype(np.float32) for each in inputs)).astype(kind)
    return xp.einsum(equation, *inputs)


def einsum(equation: str, *inputs: TensorLike, **kwargs: str) -> Tensor:
    """The sum of products that an equation such as `ij,jk->ik` describes.

    Without an arrow, the output has the labels that occur once, in order of the alphabet; `...` stands for further dimensions.

    Args:
        equation: the labels of each input's dimensions, between commas, and behind `->` those of the output.
        inputs: a tensor for each group of labels, all of one numeric dtype.
        kwargs: `name`, the name scope.

    Raises:
        ValueError: the equation is not well formed, or does not fit the inputs.
        TypeError: there is an unknown keyword argument.
    """
    name = kwargs.pop("name", None)
    kwargs.pop("optimize", None)
    if kwargs:
        raise TypeError("invalid keyword arguments for this function: " + ", ".join(sorted(kwargs)))
    values = inputs[0] if len(inputs) == 1 and isinstance(inputs[0], list | tuple) else inputs
    with input_scope(name, "einsum", values) as scope:
        tensors = [convert_to_tensor(each, name=f"inputs_{index}") for index, each in enumerate(values)]
        # The node has the labels of the result, as TensorFlow's must; NumPy's rule adds them. One that is not well formed
        # its shape rule refuses, with the inputs.
        nodes: int | None = None
        with contextlib.suppress(ValueError):
            terms, right = split_equation(equation, len(tensors))
            equation = f"{','.join(terms)}->{right}"
            nodes = tensorflows_nodes(terms, right, [each.dims for each in tensors])
        with get_default_graph().node_count.as_many_as(1 if nodes is None else nodes):
            return einsum_node(tensors, equation=equation, name=scope)


# Tensordot.


def tensordot(a: TensorLike, b: TensorLike, axes: TensorLike, name: str | None = None) -> Tensor:
    """Sum products of `a` and `b` over axes of both.

    Args:
        a, b: [...] tensors of one numeric dtype.
        axes: an int32 n, for the last n axes of `a` with the first n of `b`; or two lists of equal length, the axes of `a`
            and those of `b`.
        name: the node's name.

    Returns:
        A tensor of their dtype: the other axes of `a`, then the other axes of `b`.

    Raises:
        ValueError: the axes don't fit the shapes.
    """
    with input_scope(name, "Tensordot", (a, b, axes)) as scope:
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        axes_a, axes_b = _axes_of(a, axes)
        if a.dims is None or b.dims is None:
            return contract(a, b, axes_a=axes_a, axes_b=axes_b, name=scope)
        left, free_a, known_a = _as_matrix(a, axes_a, is_left=True)
        right, free_b, known_b = _as_matrix(b, axes_b, is_left=False)
        dims = (*known_a, *known_b)
        result = reshape(matmul(left, right), _joined(free_a, free_b), name=scope)
        result.set_shape(dims)
        return result


@op("Contract", "a: T, b: T -> product: T", infer=unknown, gradient=vjp, types={"T": NUMBERS})
def contract(xp: ArrayModule, a: Array, b: Array, *, axes_a: list[int], axes_b: list[int]) -> Result:
    """The sums of products over axes of both; for tensors whose rank the step knows first.

    `[*free, *summed], [*summed, *free] -> [*free, *free]`, with the axes in any order.
    """
    if xp is not np:
        return xp.tensordot(a, b, axes=(axes_a, axes_b))
    inner = math.prod(a.shape[axis] for axis in axes_a)
    with product_threads.of(a.size // max(inner, 1), inner, b.size // max(inner, 1)):
        return np.tensordot(a, b, axes=(axes_a, axes_b))


def _axes_of(a: Tensor, axes: Array) -> tuple[list[int], list[int]]:
    axes = _known(axes)
    is_pair = isinstance(axes, list | tuple)  # of lists that may be of unlike lengths, which are no array
    if not is_pair and np.asarray(axes).dtype.kind not in "iub":
        raise TypeError(
            f"Expected int32, got {axes} of type {type(axes).__name__!r} instead: the axes of tensordot are whole numbers."
        )
    if not is_pair and np.ndim(axes) == 0:
        count = int(axes)
        if count < 0:
            raise ValueError(f"'axes' must be at least 0, but it is {count}")
        if a.dims is not None and count > len(a.dims):
            raise ValueError(f"'axes' must not be larger than the number of dimensions of tensor {a}.")
        return list(range(-count, 0)), list(range(count))
    if len(axes) != 2:
        raise ValueError("'axes' must be an integer or have length 2.")
    if any(np.asarray(_known(each)).dtype.kind == "f" and np.size(_known(each)) for each in axes):
        raise TypeError(f"Expected int32, got {axes} of type 'float' instead: the axes of tensordot are whole numbers.")
    first, second = ([int(axis) for axis in np.atleast_1d(_known(each))] for each in axes)
    if len(first) != len(second):
        raise ValueError(f"Different number of contraction axes 'a' and 'b', {len(first)} != {len(second)}.")
    return first, second


def _known(axes: Array) -> Array:
    if not isinstance(axes, Tensor):
        return axes
    value = constant_value(axes)
    if value is None:
        raise ValueError(f"tensordot: the axes must be known when the graph is built, but {axes.name} is not")
    return value


def _as_matrix(tensor: Tensor, axes: list[int], is_left: bool) -> tuple[Tensor, Array, tuple[int | None, ...]]:
    """The tensor as a matrix, summed axes last (of the left one) or first; its free sizes, and what is known of them."""
    dims = tensor.dims
    assert dims is not None
    summed = [int(axis) % len(dims) for axis in axes]
    free = [axis for axis in range(len(dims)) if axis not in summed]
    perm = free + summed if is_left else summed + free
    stays = perm == list(range(len(dims)))
    moved = tensor if stays else transpose(tensor, perm)
    # TensorFlow transposes and reshapes in any case; later random nodes get their seeds by the count of nodes.
    get_default_graph().node_count.total += 2 if stays else 0
    free_dims = tuple(dims[axis] for axis in free)
    inner = [dims[axis] for axis in summed]
    if None not in dims:
        sizes = [math.prod(free_dims), math.prod(inner)]  # type: ignore[arg-type]
        sizes = sizes if is_left else sizes[::-1]
        flat = moved if moved.dims == tuple(sizes) else reshape(moved, sizes)
        get_default_graph().node_count.total += 2 if flat is moved else 0
        return flat, np.array(free_dims, np.int32), free_dims
    shape = shape_internal(tensor)
    free_sizes = gather_v2_node(shape, np.array(free, np.int32), 0)
    inner_size = reduce_prod(gather_v2_node(shape, np.array(summed, np.int32), 0), keepdims=True)
    free_size = reduce_prod(free_sizes, keepdims=True)
    parts = [free_size, inner_size] if is_left else [inner_size, free_size]
    return reshape(moved, concat(parts, 0)), free_sizes, free_dims


def _joined(first: Array, second: Array) -> Array:
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.concatenate([first, second])
    return concat([first, second], 0)
