"""Loops over the first dimension of tensors: map_fn, scan, foldl, foldr."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from weft.framework.building.aliases import DTypeLike, Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.node_errors import naming
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import dims_compatible
from weft.framework.types.dtypes import as_dtype
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.constant import constant
from weft.ops.array.shape_ops import shape
from weft.ops.control_flow.tensor_array import TensorArray
from weft.ops.control_flow.while_loop import while_loop

_OF_MAP: Final = (
    "What fn returns has the structure and the types of dtype, such as dtype=(tf.float32, tf.int32) of two results."
)
_OF_FOLD: Final = (
    "What fn returns is what it gets next time, so it has the same structure, shapes and types as the initializer (the first "
    "part of elems where there is none)."
)


class _Elements:
    """The tensors to go through, and how many steps that is."""

    def __init__(self, elems: Nest) -> None:
        leaves = [convert_to_tensor(leaf, name="elem") for leaf in nest.flatten(elems)]
        if not leaves:
            raise ValueError(
                f"elems must be a Tensor or (possibly nested) sequence of Tensors. Got {elems}, which does not contain "
                "any Tensors."
            )
        for leaf in leaves:
            if leaf.dims == ():
                if nest.is_nested(elems):
                    raise ValueError("elements in elems must be 1+ dimensional Tensors, not scalars")
                raise ValueError("elems must be a 1+ dimensional Tensor, not a scalar")
        self._structure = elems
        known = [leaf.dims[0] for leaf in leaves if leaf.dims is not None and leaf.dims[0] is not None]
        if len(set(known)) > 1:
            raise ValueError(f"Dimensions {known[0]} and {next(n for n in known if n != known[0])} are not compatible")
        self.static_count = known[0] if known else None
        # TensorFlow makes an array of each, with its size, and fills it by nine nodes; a shape's element is five.
        count = get_default_graph().node_count
        with count.as_many_as(11 * len(leaves) if known else 5 + 10 * len(leaves)):
            self.count: Nest = constant(known[0], name="n") if known else shape(leaves[0])[0]
            self._arrays = [TensorArray(leaf.dtype.base_dtype, flow=leaf, element_shape=_tail(leaf)) for leaf in leaves]

    def index_nodes(self, reverse: bool) -> int:
        """How many nodes TensorFlow makes to read or to write at the first step: the node itself, and what its index needs."""
        return 3 if reverse and self.static_count is None else 2

    def first(self, initializer: Nest, reverse: bool) -> tuple[Tensor, Nest]:
        """The number of the element that comes first, and the first state: `initializer` or that element."""
        count = get_default_graph().node_count
        with count.as_many_as(0):
            start = self.count - 1 if reverse else constant(0)
        if initializer is not None:
            return start, _converted(initializer)
        with count.as_many_as(len(self._arrays) * self.index_nodes(reverse)):
            return start, self.at(start)

    def at(self, index: Tensor) -> Nest:
        """The elements of one step, in the structure that was given."""
        return nest.pack_sequence_as(self._structure, [array.read(index) for array in self._arrays])


def _tail(tensor: Tensor) -> tuple[int | None, ...] | None:
    return None if tensor.dims is None else tensor.dims[1:]


def _checked(function: Callable[..., Nest], infer_shape: bool | None = None) -> None:
    if not callable(function):
        raise TypeError(f"fn must be callable. {function!r} is not.")
    if not isinstance(infer_shape, bool | None):
        # TensorFlow's name for it.
        raise TypeError(f"Expected bool for argument 'identical_element_shapes' not {infer_shape!r}: infer_shape is a bool.")


def _outputs(elements: _Elements, types: Sequence[DTypeLike]) -> list[TensorArray]:
    kinds = nest.flatten(types)
    with get_default_graph().node_count.as_many_as(len(kinds) if elements.static_count is None else 2 * len(kinds)):
        return [TensorArray(kind, size=elements.count, dynamic_size=False) for kind in kinds]


class _Limited:
    """What TensorFlow counts in a loop that also ends after as many rounds as there are elements, which is when it ends anyway.

    Args:
        elements: the elements.
    """

    def __init__(self, elements: _Elements) -> None:
        self._count = get_default_graph().node_count
        known = elements.static_count is not None
        # A counter and its first value come in, and the limit where it is a constant; the condition compares them.
        self._before = 11 if known else 9

    def enter(self) -> None:
        """Count what is there before the function of the body is called."""
        self._count.total += self._before

    def leave(self) -> None:
        """Count what follows the body."""
        self._count.total += 2


def _stacked(structure: Nest, arrays: list[TensorArray], static_count: int | None) -> Nest:
    results = [array.stack() for array in arrays]
    for result in results:
        if static_count is not None and result.dims is not None:
            result.set_shape((static_count, *result.dims[1:]))
    return nest.pack_sequence_as(structure, results)


def map_fn(
    fn: Callable[[Nest], Nest],
    elems: Nest,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Nest = None,
) -> Nest:
    """The results of `fn` for the parts of `elems` along the first dimension, stacked.

    Args:
        fn: a function of one part, in the structure of `elems`.
        elems: a tensor, or (nested) tensors with equal first dimensions.
        dtype: the types that `fn` returns, in its structure; those of `elems` when None.
        parallel_iterations, swap_memory: see `while_loop`.
        back_prop: whether gradients go through.
        infer_shape: a bool, which changes nothing.
        name: the name scope.
        fn_output_signature: another name of `dtype`.

    Raises:
        TypeError: `fn` is no function, or `infer_shape` no bool.
        ValueError: `elems` are scalars, or `fn` returns another structure than `dtype`.
    """
    _checked(fn, infer_shape)
    dtype = fn_output_signature if dtype is None else dtype
    with get_default_graph().name_scope(name or "map"):
        elements = _Elements(elems)
        types = nest.map_structure(lambda leaf: convert_to_tensor(leaf).dtype, elems) if dtype is None else dtype
        types = nest.pack_sequence_as(types, [as_dtype(kind) for kind in nest.flatten(types)])

        def body(index: Tensor, arrays: Nest) -> Nest:
            limited.enter()
            made = fn(elements.at(index))
            with naming(_OF_MAP, **{"fn returns": made, "dtype": types}):
                nest.assert_same_structure(types, made)
                return index + 1, _written(arrays, index, made)

        initial = (constant(0), _outputs(elements, types))
        limited = _Limited(elements)
        _, arrays = while_loop(
            lambda index, _: index < elements.count, body, initial, parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop, swap_memory=swap_memory, maximum_iterations=None,
        )  # fmt: skip
        limited.leave()
        return _stacked(types, arrays, elements.static_count)


def _written(arrays: Nest, index: Tensor, values: Tensor) -> list[TensorArray]:
    return [array.write(index, value) for array, value in zip(arrays, nest.flatten(values), strict=True)]


def scan(
    fn: Callable[[Nest, Nest], Nest],
    elems: Nest,
    initializer: Nest = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Nest:
    """All results of folding `fn` over the parts of `elems`, stacked.

    Args:
        fn: a function of what it returned before and of the next part.
        elems: a tensor, or (nested) tensors with equal first dimensions.
        initializer: what `fn` gets first; the first part when None, which is then the first result.
        parallel_iterations, swap_memory: see `while_loop`.
        back_prop: whether gradients go through.
        infer_shape: a bool, which changes nothing.
        reverse: begin with the last part.
        name: the name scope.

    Returns:
        Tensors of the structure that `fn` returns, with the results along a first dimension.

    Raises:
        TypeError: `fn` is no function, or `infer_shape` no bool.
        ValueError: `elems` are scalars, or `fn` returns another structure than it gets.
    """
    _checked(fn, infer_shape)
    with get_default_graph().name_scope(name or "scan"):
        elements, count = _Elements(elems), get_default_graph().node_count
        start, state = elements.first(initializer, reverse)
        arrays = _outputs(elements, nest.map_structure(lambda leaf: leaf.dtype.base_dtype, state))
        done = 0
        if initializer is None:
            with count.as_many_as(len(arrays) * elements.index_nodes(reverse)):
                arrays, done = _written(arrays, start, state), 1
        count.total += 4 if reverse and elements.static_count is None else 0  # the last element's number, twice
        limited = _Limited(elements)

        def body(step: Tensor, state: Nest, arrays: Nest) -> Nest:
            limited.enter()
            with count.as_many_as(0, is_all=True):
                index = start - step if reverse else step
            made = _applied(fn, state, elements.at(index))
            return step + 1, made, _written(arrays, index, made)

        _, _, arrays = while_loop(
            lambda step, *_: step < elements.count, body, (constant(done), state, arrays),
            parallel_iterations=parallel_iterations, back_prop=back_prop, swap_memory=swap_memory,
        )  # fmt: skip
        limited.leave()
        return _stacked(state, arrays, elements.static_count)


def _applied(fn: Callable[[Nest, Nest], Nest], state: Nest, part: Nest) -> Nest:
    """What the function of scan or a fold makes of a part; refused where it could not get it next time."""
    made = fn(state, part)
    with naming(_OF_FOLD, **{"fn gets": state, "and the part": part, "fn returns": made}):
        nest.assert_same_structure(state, made)
        after_all = _converted(made)
        for before, after in zip(nest.flatten(state), nest.flatten(after_all), strict=True):
            if not dims_compatible(before.dims, after.dims):
                raise ValueError(f"Inconsistent shapes: saw {TensorShape(after.dims)} but expected {TensorShape(before.dims)}")
        return after_all


def _converted(structure: Nest) -> Nest:
    return nest.map_structure(convert_to_tensor, structure)


def _fold(
    fn: Callable[[Nest, Nest], Nest],
    elems: Nest,
    initializer: Nest,
    options: dict[str, Nest],
    reverse: bool,
    name: str,
) -> Nest:
    _checked(fn)
    with get_default_graph().name_scope(name):
        elements, count = _Elements(elems), get_default_graph().node_count
        start, state = elements.first(initializer, reverse)

        def body(step: Tensor, state: Nest) -> Nest:
            if not reverse:
                made = _applied(fn, state, elements.at(step))
                return step + 1, made
            following = step + 1
            with count.as_many_as(0, is_all=True):
                index = start - step
            return following, _applied(fn, state, elements.at(index))

        done = constant(1 if initializer is None else 0, dtypes.int32)
        limit = elements.count
        count.total += 0 if elements.static_count is None else 1  # the limit, which TensorFlow makes a constant of

        def goes_on(step: Tensor, _: Nest) -> Tensor:
            count.total += 0 if elements.static_count is None else 1
            going: Tensor = step < limit
            return going

        folded: Nest = while_loop(goes_on, body, (done, state), maximum_iterations=limit, **options)[1]
        return folded


def foldl(
    fn: Callable[[Nest, Nest], Nest],
    elems: Nest,
    initializer: Nest = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Nest:
    """The last result of folding `fn` over the parts of `elems` along the first dimension; see `scan`.

    Args:
        fn: a function of the result so far and of a part of `elems`, which returns the next result.
        elems: a nesting of [n, ...] tensors.
        initializer: the result before the first part; the first part itself when None.
        parallel_iterations: how many rounds may run at the same time.
        back_prop: whether gradients go through.
        swap_memory: whether values for the gradient may leave the GPU.
    """
    options = {"parallel_iterations": parallel_iterations, "back_prop": back_prop, "swap_memory": swap_memory}
    return _fold(fn, elems, initializer, options, reverse=False, name=name or "foldl")


def foldr(
    fn: Callable[[Nest, Nest], Nest],
    elems: Nest,
    initializer: Nest = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Nest:
    """The last result of folding `fn` over the parts of `elems` from the last to the first; see `scan`.

    Args: those of `tf.foldl`.
    """
    options = {"parallel_iterations": parallel_iterations, "back_prop": back_prop, "swap_memory": swap_memory}
    return _fold(fn, elems, initializer, options, reverse=True, name=name or "foldr")
