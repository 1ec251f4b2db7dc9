"""flat_map: the elements of the datasets that a function makes, one dataset after the other."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from weft.errors import OpError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.types.attr_value import FunctionName as Function
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType, string
from weft.ops.data.element import (
    Called,
    Element,
    ElementIterator,
    Iteration,
    OverInput,
    Source,
    State,
    dataset_op,
    source_of,
)
from weft.ops.data.mapping import Numbering


class FlatMapped(Source):
    """The elements of the datasets that a function makes of each element, one dataset after the other.

    Args:
        source: the elements.
        function: the function.
        are_texts: whether the elements of its datasets are scalar strings.
        is_bare: whether they are given as they are; see `Source.texts`.
    """

    def __init__(self, source: Source, function: Called, are_texts: bool, is_bare: bool = False) -> None:
        self._source = source
        self._function = function
        self._are_texts = are_texts
        self._is_bare = is_bare

    @property
    def texts(self) -> Source | None:
        """The same, each dataset's texts."""
        return FlatMapped(self._source, self._function, True, is_bare=True) if self._are_texts else None

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return FlatMapIterator(self._source.iterate(iteration), self._function, self._is_bare)


class BareIterator(OverInput):
    """The scalar strings of elements."""

    @property
    def only_computes(self) -> bool:
        """Whether the input does."""
        return self._input.only_computes

    def next(self, caller: Caller) -> Element | None:
        """The next one."""
        element = self._input.next(caller)
        return None if element is None else element[0].item()


class FlatMapIterator(Numbering):
    """The elements of the datasets that a function makes, or the texts."""

    def __init__(self, input_iterator: ElementIterator, function: Called, is_bare: bool) -> None:
        super().__init__(input_iterator)
        self._function = function
        self._is_bare = is_bare
        self._element: Element | None = None
        self._inner: ElementIterator | None = None
        # The dataset behind it, none at the end; None where that is not known. A step that is to make an element by itself has
        # to know what it comes to: the next of many files may be a pipe.
        self._following: Sequence[ElementIterator] | None = None

    @property
    def only_computes(self) -> bool:
        """Whether the present dataset and the one behind it do, as far as that is known."""
        if self._inner is None or self._following is None:
            return False
        return self._inner.only_computes and all(each.only_computes for each in self._following)

    def next(self, caller: Caller) -> Element | None:
        """The next element."""
        while True:
            if self._inner is None and not self._begin(caller):
                return None
            assert self._inner is not None
            found = self._inner.next(caller)
            if found is not None:
                return found
            self._inner.close()
            self._inner = None

    def next_some(self, caller: Caller, most: int) -> Sequence[Element]:
        """The next elements of the dataset that is gone over, else the next one."""
        some = () if self._inner is None else self._inner.next_some(caller, most)
        return some or super().next_some(caller, most)

    def _begin(self, caller: Caller) -> bool:
        """Begin with the next dataset; whether there is one."""
        following, self._following = self._following, None
        self._element = self._take(caller)
        if self._element is None:
            return False
        self._inner = following[0] if following else self._made(self._element, caller, self._number)
        told = self._input.told() if self._function.is_pure and self._function.only_computes else None
        if told is not None:
            with contextlib.suppress(OpError):  # It comes when it is its turn.
                self._following = [self._made(each, caller, self._number + 1) for each in told]
        return True

    def _made(self, element: Element, caller: Caller, number: int) -> ElementIterator:
        source = source_of(self._function(element, caller, number)[0])
        if not self._is_bare:
            return source.iterate(Iteration())
        texts = source.texts
        return BareIterator(source.iterate(Iteration())) if texts is None else texts.iterate(Iteration())

    def state(self) -> State:
        """The element of which the present dataset was made, and where that is."""
        inner = None if self._inner is None else [list(self._element or ()), self._inner.state()]
        return [inner, super().state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        inner, behind = state
        super().restore(behind, caller)
        if self._inner is not None:
            self._inner.close()
            self._inner = None
        self._following = None
        if inner is not None:
            self._element = tuple(inner[0])
            self._inner = self._made(self._element, caller, self._number)
            self._inner.restore(inner[1], caller)

    def close(self) -> None:
        """Close both datasets."""
        if self._inner is not None:
            self._inner.close()
        super().close()


@dataset_op("FlatMapDataset", "input_dataset: variant, other_arguments: [Targuments]", calls=("f",))
def flat_map_dataset(
    ctx: OpContext, input_dataset: Array, other_arguments: Sequence[Array], *, f: Function, Targuments: list[DType],
    output_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """The elements of the datasets that `f` makes of each: `scalar variant, n*[*argument] -> scalar variant`."""
    are_texts = output_types == [string] and output_shapes == [()]
    return FlatMapped(source_of(input_dataset), Called(ctx, "f", "other_arguments", other_arguments), are_texts)
