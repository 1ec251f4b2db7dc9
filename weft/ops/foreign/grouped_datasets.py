"""GroupByReducerDataset and the parsing of examples as a dataset's op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.registry.op_registry import lookup
from weft.framework.types import dtypes
from weft.framework.types.attr_value import FunctionName as Function
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data.element import Called, Element, ElementIterator, Iteration, Source, State, dataset_op, source_of
from weft.ops.data.mapping import Numbering
from weft.ops.data.parallel import calls_at_once

_TYPES: Final = (dtypes.float32, dtypes.int64, dtypes.string)


class _Reduced(Source):
    """One result for each key of a dataset's elements."""

    def __init__(self, source: Source, key: Called, first: Called, step: Called, last: Called) -> None:
        self._source = source
        self._functions = key, first, step, last

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return _ReducedIterator(self._source.iterate(iteration), *self._functions)


class _ReducedIterator(Numbering):
    """The results, in the order of the keys: all of the input is taken at once."""

    def __init__(self, input_iterator: ElementIterator, key: Called, first: Called, step: Called, last: Called) -> None:
        super().__init__(input_iterator)
        self._key, self._first, self._step, self._last = key, first, step, last
        self._states: dict[int, Sequence[Array]] | None = None
        self._order: list[int] = []

    def next(self, caller: Caller) -> Element | None:
        """The next key's result."""
        if self._states is None:
            self._states = {}
            while (element := self._take(caller)) is not None:
                key = int(self._key(element, caller, self._number)[0])
                state = self._states.get(key)
                if state is None:
                    state = self._first([np.asarray(key, np.int64)], caller, self._number)
                self._states[key] = self._step([*state, *element], caller, self._number)
            self._order = sorted(self._states)
        if not self._order:
            return None
        return tuple(self._last(list(self._states[self._order.pop(0)]), caller, self._number))

    def state(self) -> State:
        """The keys' states, which keys are left, and where the input is."""
        states = None if self._states is None else [[key, list(values)] for key, values in self._states.items()]
        return [states, self._order, super().state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        states, order, inner = state
        super().restore(inner, caller)
        self._states = None if states is None else {int(key): values for key, values in states}
        self._order = [int(key) for key in order]


@dataset_op("GroupByReducerDataset", "input_dataset: variant, key_func_other_arguments: [Tkey_func_other_arguments], "
            "init_func_other_arguments: [Tinit_func_other_arguments], "
            "reduce_func_other_arguments: [Treduce_func_other_arguments], "
            "finalize_func_other_arguments: [Tfinalize_func_other_arguments]",
            calls=("key_func", "init_func", "reduce_func", "finalize_func"), stateful=True)  # fmt: skip
def group_by_reducer_dataset(
    ctx: OpContext, input_dataset: Array, key_func_other_arguments: Sequence[Array],
    init_func_other_arguments: Sequence[Array], reduce_func_other_arguments: Sequence[Array],
    finalize_func_other_arguments: Sequence[Array], *, key_func: Function, init_func: Function, reduce_func: Function,
    finalize_func: Function, Tkey_func_other_arguments: list[DType], Tinit_func_other_arguments: list[DType],
    Treduce_func_other_arguments: list[DType], Tfinalize_func_other_arguments: list[DType], output_types: list[DType],
    output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """What functions reduce the elements of each key to, in the order of the keys.

    `scalar variant, k*[*argument], i*[*argument], r*[*argument], f*[*argument] -> scalar variant`
    """
    return _Reduced(
        source_of(input_dataset),
        Called(ctx, "key_func", "key_func_other_arguments", key_func_other_arguments),
        Called(ctx, "init_func", "init_func_other_arguments", init_func_other_arguments),
        Called(ctx, "reduce_func", "reduce_func_other_arguments", reduce_func_other_arguments),
        Called(ctx, "finalize_func", "finalize_func_other_arguments", finalize_func_other_arguments),
    )


# Examples.


class _Parsed(Source):
    """Batches of serial examples, parsed."""

    def __init__(self, source: Source, settings: _Settings) -> None:
        self._source = source
        self._settings = settings

    @property
    def size(self) -> int | None:
        """As many as there are batches."""
        return self._source.size

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return _ParsedIterator(self._source.iterate(iteration), self._settings)


class _ParsedIterator(Numbering):
    """The features of each batch in the order of their names: a sparse one is its three parts in one component."""

    def __init__(self, input_iterator: ElementIterator, settings: _Settings) -> None:
        super().__init__(input_iterator)
        self._settings = settings

    def next(self, caller: Caller) -> Element | None:
        """The next batch."""
        element = self._take(caller)
        return None if element is None else self._settings.parsed(element[0])


class _Settings:
    """Which features there are, and how each is given on."""

    def __init__(self, ctx: OpContext, defaults: Sequence[Array], attrs: dict[str, Array]) -> None:
        self._ctx = ctx
        self._defaults = defaults
        self._attrs = attrs

    def parsed(self, serialized: Array) -> Element:
        """The features of a batch of serial examples."""
        attrs = self._attrs
        sparse, dense, ragged = attrs["sparse_keys"], attrs["dense_keys"], attrs["ragged_keys"]
        keys = [np.array([_bytes(key) for key in names], object) for names in (sparse, dense, ragged)]
        made = lookup("ParseExampleV2").kernel(
            self._ctx, serialized, np.zeros(0, object), *keys, list(self._defaults), Tdense=attrs["Tdense"],
            num_sparse=len(sparse), sparse_types=attrs["sparse_types"], ragged_value_types=[], ragged_split_types=[],
            dense_shapes=attrs["dense_shapes"],
        )  # fmt: skip
        count = len(sparse)
        found: dict[bytes, Array] = {}
        for number, key in enumerate(sparse):
            parts = np.empty(3, object)
            parts[:] = [made[number], made[count + number], made[2 * count + number]]
            found[_bytes(key)] = parts
        found.update({_bytes(key): made[3 * count + number] for number, key in enumerate(dense)})
        return tuple(found[key] for key in sorted(found))


def _bytes(key: object) -> bytes:
    return key if isinstance(key, bytes) else str(key).encode()


def _parsed_source(
    ctx: OpContext, input_dataset: Array, num_parallel_calls: Array, defaults: Sequence[Array], attrs: dict[str, Array],
    ragged: list[str],
) -> Source:  # fmt: skip
    attrs["ragged_keys"] = ragged
    if ragged:
        raise InvalidArgumentError.of(f"ragged features of a parsing dataset are not supported: {', '.join(map(str, ragged))}")
    calls_at_once(num_parallel_calls)
    return _Parsed(source_of(input_dataset), _Settings(ctx, defaults, attrs))


@dataset_op("ParseExampleDataset", "input_dataset: variant, num_parallel_calls: int64, dense_defaults: [Tdense]")
def parse_example_dataset(
    ctx: OpContext, input_dataset: Array, num_parallel_calls: Array, dense_defaults: Sequence[Array], *,
    sparse_keys: list[str], dense_keys: list[str], sparse_types: list[DType], Tdense: list[DType], dense_shapes: list[Dims],
    output_types: list[DType], output_shapes: list[Dims], sloppy: bool = False, ragged_keys: list[str] = [],  # noqa: B006
    ragged_value_types: list[DType] = [], ragged_split_types: list[DType] = [],  # noqa: B006
) -> Source:  # fmt: skip
    """The features of batches of serial examples: `scalar variant, scalar int64, dense*[*default] -> scalar variant`."""
    attrs = {
        "sparse_keys": sparse_keys, "dense_keys": dense_keys, "sparse_types": sparse_types, "Tdense": Tdense,
        "dense_shapes": dense_shapes,
    }  # fmt: skip
    return _parsed_source(ctx, input_dataset, num_parallel_calls, dense_defaults, attrs, ragged_keys)


@dataset_op("ParseExampleDatasetV2", "input_dataset: variant, num_parallel_calls: int64, dense_defaults: [Tdense]")
def parse_example_dataset_v2(
    ctx: OpContext, input_dataset: Array, num_parallel_calls: Array, dense_defaults: Sequence[Array], *,
    sparse_keys: list[str], dense_keys: list[str], sparse_types: list[DType], Tdense: list[DType], dense_shapes: list[Dims],
    output_types: list[DType], output_shapes: list[Dims], deterministic: str = "default",
    ragged_keys: list[str] = [], ragged_value_types: list[DType] = [], ragged_split_types: list[DType] = [],  # noqa: B006
) -> Source:  # fmt: skip
    """The features of batches of serial examples: `scalar variant, scalar int64, dense*[*default] -> scalar variant`."""
    attrs = {
        "sparse_keys": sparse_keys, "dense_keys": dense_keys, "sparse_types": sparse_types, "Tdense": Tdense,
        "dense_shapes": dense_shapes,
    }  # fmt: skip
    return _parsed_source(ctx, input_dataset, num_parallel_calls, dense_defaults, attrs, ragged_keys)
