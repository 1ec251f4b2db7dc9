"""Transformations that call functions for elements."""

from __future__ import annotations

import dis
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from weft.datasets import nest, structure
from weft.datasets.leaves import DatasetLike, DatasetSpec
from weft.datasets.selecting import Made, above_zero, check_above_zero, int64
from weft.datasets.traced import Traced
from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.node_errors import naming
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import as_dims
from weft.ops.data import flat_mapping, grouping, interleaving, mapping, parallel
from weft.platform.frames.program_frames import shown_name
from weft.platform.logs import tf_logging

_OF_CALLS: Final = "leave it out to have one call after the other, or give tf.data.experimental.AUTOTUNE."
_OF_TURNS: Final = "it is how many of the datasets that the function makes are open at a time."
_OF_BLOCKS: Final = "it is how many elements come of one dataset before the next has its turn."


class MadeBy(NamedTuple):
    """A dataset that was made, and the functions that it calls."""

    made: Made
    functions: Sequence[Traced]


def _node(build: Callable[..., Tensor], spec: Nest, functions: Sequence[Traced], *inputs: object, **attrs: object) -> MadeBy:
    """Add a dataset's node, which waits for what its functions were told to wait for."""
    waits = [op for function in functions for op in function.waits]
    with get_default_graph().control_dependencies(waits):
        variant = build(*inputs, **attrs, **structure.flat_attrs(spec))
    return MadeBy(Made(variant, spec), functions)


def map_elements(dataset: DatasetLike, function: Callable[..., Nest], num_parallel_calls: TensorLike | None = None) -> MadeBy:
    """The results of a function for each element."""
    check_above_zero(num_parallel_calls, "num_parallel_calls", _OF_CALLS, or_automatic=True)
    traced = Traced(function, "Dataset.map()", dataset.element_spec)
    inputs: list[object] = [dataset.variant_tensor, traced.captured]
    if num_parallel_calls is None:
        return _node(mapping.map_dataset, traced.spec, [traced], *inputs, f=traced.name)
    with naming(num_parallel_calls=num_parallel_calls):
        calls = convert_to_tensor(num_parallel_calls, dtype=dtypes.int32, name="num_parallel_calls")
    return _node(parallel.parallel_map_dataset, traced.spec, [traced], *inputs, calls, f=traced.name)


def map_and_batch(
    dataset: DatasetLike,
    function: Callable[..., Nest],
    batch_size: TensorLike,
    num_parallel_calls: TensorLike,
    drop_remainder: TensorLike,
    known_size: int | None,
) -> MadeBy:
    """Batches of the results of a function."""
    traced = Traced(function, "tf.data.experimental.map_and_batch()", dataset.element_spec)
    sizes = (
        int64(batch_size, "batch_size"),
        int64(num_parallel_calls, "num_parallel_calls"),
        convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder"),
    )
    spec = structure.batched(traced.spec, known_size)
    inputs = (dataset.variant_tensor, traced.captured, *sizes)
    return _node(
        parallel.map_and_batch_dataset, spec, [traced], *inputs, f=traced.name, preserve_cardinality=True,
    )  # fmt: skip


def filter_elements(dataset: DatasetLike, predicate: Callable[..., Nest]) -> MadeBy:
    """The elements for which a function is true; ValueError for one that does not return a scalar bool."""
    traced = _predicate(dataset, predicate, "Dataset.filter()")
    inputs = (dataset.variant_tensor, traced.captured)
    return _node(mapping.filter_dataset, dataset.element_spec, [traced], *inputs, predicate=traced.name)


def take_while(dataset: DatasetLike, predicate: Callable[..., Nest]) -> MadeBy:
    """The elements before the first for which a function is false; ValueError as in `filter_elements`."""
    traced = _predicate(dataset, predicate, "tf.data.experimental.take_while()")
    inputs = (dataset.variant_tensor, traced.captured)
    return _node(mapping.take_while_dataset, dataset.element_spec, [traced], *inputs, predicate=traced.name)


def _predicate(dataset: DatasetLike, predicate: Callable[..., Nest], name: str) -> Traced:
    traced = Traced(predicate, name, dataset.element_spec)
    if isinstance(traced.given, bool) and (compared := _comparison(predicate)):
        tf_logging.warning(
            "%s: the predicate at %s compares by `%s`, which asks whether two tensors are the same object: it has returned %s "
            "for all elements. tf.%s compares their values.",
            *(name, compared.place, compared.sign, traced.given, "equal" if compared.sign == "==" else "not_equal"),
        )
    answer = traced.spec
    if not (isinstance(answer, TensorSpec) and answer.dtype is dtypes.bool and as_dims(answer.shape) in ((), None)):
        raise ValueError(
            f"`predicate` return type must be convertible to a scalar boolean tensor. Was {answer}. "
            "A comparison gives one, such as tf.equal(x, 0) or x > 0, and tf.reduce_all makes one of several."
        )
    return traced


class _Comparison(NamedTuple):
    place: str
    sign: str


def _comparison(predicate: Callable[..., Nest]) -> _Comparison | None:
    """Where a function compares by identity, as `==` does with tensors; None where it does not."""
    code = getattr(predicate, "__code__", None)
    if code is None:
        return None
    for each in dis.get_instructions(code):
        if each.opname == "COMPARE_OP" and (sign := each.argrepr[:2]) in ("==", "!="):
            return _Comparison(f"{shown_name(code.co_filename)}:{code.co_firstlineno}", sign)
    return None


def flat_map(dataset: DatasetLike, function: Callable[..., Nest]) -> MadeBy:
    """The elements of the datasets that a function makes of each element."""
    traced = Traced(function, "Dataset.flat_map()", dataset.element_spec)
    inputs = (dataset.variant_tensor, traced.captured)
    return _node(flat_mapping.flat_map_dataset, _made_spec(traced), [traced], *inputs, f=traced.name)


def interleave(
    dataset: DatasetLike,
    function: Callable[..., Nest],
    cycle_length: TensorLike,
    block_length: TensorLike,
    num_parallel_calls: TensorLike | None,
) -> MadeBy:
    """The elements of the datasets that a function makes, by turns."""
    traced = Traced(function, "Dataset.interleave()", dataset.element_spec)
    turns = (
        above_zero(cycle_length, "cycle_length", _OF_TURNS, or_automatic=True),
        above_zero(block_length, "block_length", _OF_BLOCKS),
    )
    inputs = (dataset.variant_tensor, traced.captured, *turns)
    if num_parallel_calls is None:
        return _node(interleaving.interleave_dataset, _made_spec(traced), [traced], *inputs, f=traced.name)
    calls = above_zero(num_parallel_calls, "num_parallel_calls", _OF_CALLS, or_automatic=True)
    build = interleaving.parallel_interleave_dataset_v2
    return _node(build, _made_spec(traced), [traced], *inputs, calls, f=traced.name)


def parallel_interleave(
    dataset: DatasetLike,
    function: Callable[..., Nest],
    cycle_length: TensorLike,
    block_length: TensorLike = 1,
    sloppy: TensorLike = False,
    buffer_output_elements: TensorLike | None = None,
    prefetch_input_elements: TensorLike | None = None,
) -> MadeBy:
    """The elements of the datasets that a function makes, by turns, each read by a thread of its own."""
    traced = Traced(function, "tf.data.experimental.parallel_interleave()", dataset.element_spec)
    ahead = 2 * block_length if buffer_output_elements is None else buffer_output_elements  # type: ignore[operator]
    inputs = (
        above_zero(cycle_length, "cycle_length", _OF_TURNS),
        above_zero(block_length, "block_length", _OF_BLOCKS),
        convert_to_tensor(sloppy, dtype=dtypes.bool, name="sloppy"),
        int64(ahead, "buffer_output_elements"),
        int64(
            2 * cycle_length if prefetch_input_elements is None else prefetch_input_elements,  # type: ignore[operator]
            "prefetch_input_elements",
        ),
    )
    build, first = interleaving.parallel_interleave_dataset, (dataset.variant_tensor, traced.captured)
    return _node(build, _made_spec(traced), [traced], *first, *inputs, f=traced.name)


def _made_spec(traced: Traced) -> Nest:
    """What the datasets that a function makes have for elements; TypeError when it makes none."""
    if not isinstance(traced.spec, DatasetSpec):
        raise TypeError(
            f"`map_func` must return a `Dataset` object. Got {type(traced.spec)}. tf.data.Dataset.from_tensors makes one of a "
            "tensor; Dataset.map takes a function that returns tensors."
        )
    return traced.spec.element_spec


def _state_function(
    function: Callable[..., Nest], name: str, initial: Nest, dataset: DatasetLike, has_output: bool
) -> tuple[Traced, Nest, Nest]:
    """Trace a function of a state and an element until the state's shapes hold for what it returns.

    Returns:
        the function, the specs of the state, and those of what it returns besides.

    Raises:
        TypeError: what it returns has not the class, type or form of the state.
    """
    state = structure.spec_of(initial)
    while True:
        traced = Traced(function, name, (state, dataset.element_spec))
        new, output = traced.spec, None
        if has_output:
            if not (isinstance(new, tuple) and len(new) == 2):
                raise TypeError("The scan function must return a pair comprising the new state and the output value.")
            new, output = new
        for what, of in (("classes", structure.legacy_classes), ("types", structure.legacy_types)):
            if nest.flatten(of(new)) != nest.flatten(of(state)):
                raise TypeError(
                    f"The element {what} for the new state must match the initial state. Expected {of(state)}; got {of(new)}."
                )
        pairs = zip(nest.flatten(structure.legacy_shapes(state)), nest.flatten(structure.legacy_shapes(new)), strict=True)
        weaker = [old.most_specific_compatible_shape(shape) for old, shape in pairs]
        if [as_dims(shape) for shape in weaker] == [as_dims(leaf.shape) for leaf in nest.flatten(state)]:
            return traced, state, output
        types, classes = structure.legacy_types(state), structure.legacy_classes(state)
        state = structure.spec_of_legacy(types, nest.pack_sequence_as(types, weaker), classes)


def reduce(dataset: DatasetLike, initial_state: Nest, function: Callable[..., Nest]) -> Nest:
    """The last state that a function makes of a state and an element, as tensors."""
    with get_default_graph().name_scope("initial_state"):
        initial = structure.normalized(initial_state)
    traced, state, _ = _state_function(function, "reduce()", initial, dataset, has_output=False)
    with get_default_graph().control_dependencies(traced.waits):
        tensors = grouping.reduce_dataset(
            dataset.variant_tensor, structure.to_tensors(state, initial), traced.captured, f=traced.name,
            **structure.flat_attrs(state),
        )  # fmt: skip
    return structure.from_tensors(state, tensors)


def scan(dataset: DatasetLike, initial_state: Nest, function: Callable[..., Nest]) -> MadeBy:
    """The outputs of a function that makes a state and an output of a state and an element."""
    initial = structure.normalized(initial_state)
    traced, state, output = _state_function(function, "tf.data.experimental.scan()", initial, dataset, has_output=True)
    inputs = (dataset.variant_tensor, structure.to_tensors(state, initial), traced.captured)
    return _node(mapping.scan_dataset, output, [traced], *inputs, f=traced.name)


def group_by_window(
    dataset: DatasetLike, key: Callable[..., Nest], reducer: Callable[..., Nest], window_size: Callable[..., Nest]
) -> MadeBy:
    """What a function makes of groups of elements with one key.

    Raises:
        ValueError: a key or a size is no scalar int64.
        TypeError: the function makes no dataset.
    """
    name = "tf.data.experimental.group_by_window()"
    scalar = TensorSpec((), dtypes.int64)
    keys = Traced(key, name, dataset.element_spec)
    if not _is_scalar_int64(keys.spec):
        raise ValueError(f"`key_func` must return a single tf.int64 tensor of scalar shape.{_returned(keys.spec)}")
    groups = Traced(reducer, name, (scalar, DatasetSpec(dataset.element_spec)))
    if not isinstance(groups.spec, DatasetSpec):
        raise TypeError(f"`reduce_func` must return a `Dataset` object.{_returned(groups.spec)}")
    sizes = Traced(lambda value: convert_to_tensor(window_size(value), dtype=dtypes.int64), name, scalar)
    if not _is_scalar_int64(sizes.spec):
        raise ValueError(f"`window_size_func` must return a single tf.int64 tensor of scalar shape.{_returned(sizes.spec)}")
    inputs = (dataset.variant_tensor, keys.captured, groups.captured, sizes.captured)
    names = {"key_func": keys.name, "reduce_func": groups.name, "window_size_func": sizes.name}
    build = grouping.group_by_window_dataset
    return _node(build, groups.spec.element_spec, [keys, groups, sizes], *inputs, **names)


def _returned(spec: Nest) -> str:
    """What a function returned, and the next step where a cast is one."""
    is_number = isinstance(spec, TensorSpec) and (spec.dtype.is_integer or spec.dtype.is_floating)
    return f" It returned {spec}.{' tf.cast(x, tf.int64) makes one of another number.' if is_number else ''}"


def _is_scalar_int64(spec: Nest) -> bool:
    return isinstance(spec, TensorSpec) and spec.dtype is dtypes.int64 and as_dims(spec.shape) in ((), None)
