"""What datasets are at run time: sources, which make iterators over elements."""

from __future__ import annotations

import functools
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias, TypeVar

import numpy as np

from weft.errors import InvalidArgumentError, OpError, UnimplementedError, from_status
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.attr_limits import Limits
from weft.ops.declaration import not_differentiable, op, scalar_shape

T = TypeVar("T")

Element: TypeAlias = tuple[Array, ...]
"""The components of one element, flat; sparse tensors are three serial parts in one component."""

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.dirname(__file__))) + os.sep

State: TypeAlias = Array
"""Where an iterator is: numbers, texts, arrays, None, and lists and dicts of these."""


class Rows(NamedTuple):
    """A source all of whose elements are rows of arrays that lie in memory: the arrays, and a source of the rows' numbers.

    What batches such elements takes their rows at once, which costs a tenth of taking them one by one.
    """

    components: Sequence[Array]
    numbers: Source


class SourcedElement(tuple[Array, ...]):
    """An element that knows where it comes from, for messages."""

    place: tuple[str, int]
    """A file and the number of the record in it."""

    @property
    def source(self) -> str:
        """The place in words."""
        return "{}, record {}".format(*self.place)


class Iteration:
    """One iteration over a dataset, and what goes on in it from one pass over a part of the dataset to the next."""

    fuses = False
    """Whether what is shuffled and then repeated is one shuffling of all passes, as TensorFlow has it by default."""

    def __init__(self) -> None:
        self._kept: weakref.WeakKeyDictionary[Source, object] = weakref.WeakKeyDictionary()

    def kept(self, source: Source, make: Callable[[], T]) -> T:
        """What a part keeps between passes over it; made when missing."""
        found = self._kept.get(source)
        if found is None:
            found = self._kept.setdefault(source, make())
        return found  # type: ignore[return-value]


class Source:
    """A dataset: immutable, shared by any number of iterators."""

    @property
    def rows(self) -> Rows | None:
        """The dataset as rows of arrays, where it is that."""
        return None

    @property
    def texts(self) -> Source | None:
        """The same with bare bytes for elements, where these are scalar strings; None where nothing is gained by it.

        What batches records of files takes them so: an array and a tuple around each cost as much as reading it (two cores,
        November 2026).
        """
        return None

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it, as a part of an iteration over the dataset that is made of it, or over itself."""
        raise NotImplementedError

    @property
    def size(self) -> int | None:
        """How many elements there are, -1 for infinitely many, None where only an iteration tells."""
        return None

    def repeated(self, count: int) -> Source | None:
        """The dataset `count` times as one, where that is something else than one pass after the other."""
        return None


class ElementIterator:
    """One iteration over a dataset. Used by one thread at a time."""

    @property
    def is_ready(self) -> bool:
        """Whether the next element lies ready, and is there without work or waiting."""
        return False

    @property
    def only_computes(self) -> bool:
        """Whether the next element is made on the thread that asks for it, by work that ends: it neither waits, nor runs code
        of the program, nor goes through elements until one is found."""
        return False

    def next(self, caller: Caller) -> Element | None:
        """The next element; None at the end, and from then on.

        Raises:
            OpError: the element cannot be made; the iteration goes on behind it.
        """
        raise NotImplementedError

    def next_some(self, caller: Caller, most: int) -> Sequence[Element]:
        """The next elements, one to `most`; none at the end, and from then on.

        What takes many elements asks for some at a time where it can: to take a record costs a third then. An element that
        cannot be made raises its error when it is the first.
        """
        element = self.next(caller)
        return () if element is None else (element,)

    def told(self) -> Sequence[Element] | None:
        """The next element, none at the end, where all that follow lie in memory; None elsewhere."""
        return None

    def progress(self) -> str:
        """How far the next element is, such as `shuffle has 95 of 1000 elements`; empty where that is not known.

        Another thread asks, while this iterator works.
        """
        return ""

    def state(self) -> State:
        """Where the iteration is; UnimplementedError where that cannot be saved."""
        raise UnimplementedError.of(f"{type(self).__name__}: where this iteration is cannot be saved")

    def restore(self, state: State, caller: Caller) -> None:
        """Go to where an iteration over an equal dataset was."""
        raise UnimplementedError.of(f"{type(self).__name__}: where this iteration was cannot be restored")

    def close(self) -> None:
        """End threads and close files; a second call does nothing."""


class OverInput(ElementIterator):
    """An iteration that takes elements of one other."""

    def __init__(self, input_iterator: ElementIterator) -> None:
        self._input = input_iterator

    def progress(self) -> str:
        """How far the input's next element is."""
        return self._input.progress()

    def state(self) -> State:
        """Where the input is."""
        return self._input.state()

    def restore(self, state: State, caller: Caller) -> None:
        """Go to where the input was."""
        self._input.restore(state, caller)

    def close(self) -> None:
        """Close the input."""
        self._input.close()


def joined_progress(own: str, of_input: str) -> str:
    """How far an iterator is, and its input."""
    return f"{own}, {of_input}" if of_input else own


def repeated_size(size: int | None, count: int) -> int | None:
    """The size of a dataset that comes `count` times, -1 for without end."""
    if count < 0:
        return 0 if size == 0 else -1
    return 0 if count == 0 else size if size is None or size < 0 else size * count


def boxed(value: object) -> Array:
    """A dataset as the value of a scalar variant tensor."""
    result = np.empty((), np.object_)
    result[()] = value
    return result


def source_of(value: Array) -> Source:
    """The dataset that a variant tensor holds."""
    found = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if not isinstance(found, Source):
        raise InvalidArgumentError.of(f"Tensor must be a Dataset object, got {type(found).__name__}")
    return found


def dataset_op(
    name: str,
    inputs: str,
    calls: Sequence[str] = (),
    stateful: bool = False,
    at_once: bool = False,
    limits: Limits | None = None,
    ranks: Mapping[str, int] = MappingProxyType({}),
) -> Callable[[Callable[..., Source]], Callable[..., Tensor]]:
    """Declare an op whose kernel makes a dataset: `inputs -> scalar variant`; `at_once`: without reading or asking anything."""

    def decorate(kernel: Callable[..., Source]) -> Callable[..., Tensor]:
        @functools.wraps(kernel)
        def boxing(*args: Array, **kwargs: object) -> Array:
            return boxed(kernel(*args, **kwargs))

        declare = op(
            name, f"{inputs} -> handle: variant", infer=scalar_shape, gradient=not_differentiable, calls=calls,
            stateful=stateful, at_once=at_once, only_looks=at_once, allows_uninitialized=bool(calls), limits=limits,
            ranks=ranks,
        )  # fmt: skip
        made: Callable[..., Tensor] = declare(boxing)
        return made

    return decorate


def located(error: OpError, where: str, number: int, element: object = None) -> OpError:
    """The error of an element: which one of which dataset it is about, and where that comes from.

    The node that failed is one of a function, which a program does not know by name; so the error is that of the node that
    asked for the element, and the other goes into the text.
    """
    lines = [error.message]
    if error.op is not None:
        at = user_line(error.op)
        lines.append(f"\t [[{{{{node {error.op.name}}}}}]]" + (f", built at {at}" if at else ""))
    of_file = f", from {element.source}" if isinstance(element, SourcedElement) else ""
    lines.append(f"\t [[element {number} of {where}{of_file}]]")
    return from_status(error.error_code, "\n".join(lines))


def user_line(op: Operation) -> str:
    """The file and line of the program that built a node, empty for one that came from a GraphDef."""
    for file, line, _, _ in reversed(op.traceback):
        if not file.startswith(_PACKAGE):
            return f"{file}:{line}"
    return ""


class Called:
    """A dataset's function, whose failures say which element they are about.

    Args:
        ctx: the context of the dataset's kernel.
        attr, captured, values: see `OpContext.function`.
    """

    __slots__ = ("_function", "where")

    def __init__(self, ctx: OpContext, attr: str, captured: str, values: Sequence[Array]) -> None:
        self._function = ctx.function(attr, captured, values)
        self.where = place_of(ctx)

    @property
    def may_wait(self) -> bool:
        """Whether a call may do more than compute."""
        return self._function.may_wait

    @property
    def only_computes(self) -> bool:
        """Whether a call only computes, and ends: a loop may not."""
        return not (self._function.may_wait or self._function.has_loops)

    def __call__(self, arguments: Sequence[Array], caller: Caller, number: int, element: object = None) -> list[Array]:
        """The results for arguments of that number, which come from `element`, or are it."""
        try:
            return self._function(arguments, caller)
        except OpError as error:
            raise located(error, self.where, number, arguments if element is None else element) from error

    @property
    def is_pure(self) -> bool:
        """Whether nobody can tell `each` from calls one after the other."""
        return self._function.is_pure

    def each(self, elements: Sequence[Element], caller: Caller, number: int) -> list[Element | OpError]:
        """The results for elements of consecutive numbers, or their errors."""
        made: list[Element | OpError] = []
        for at, (element, outcome) in enumerate(zip(elements, self._function.each(elements, caller), strict=True), number):
            if isinstance(outcome, OpError):
                error = located(outcome, self.where, at, element)
                error.__cause__ = outcome
                made.append(error)
            else:
                made.append(tuple(outcome))
        return made


def saved_item(element: Element | None, error: Exception | None) -> State:
    """An element that was made, or the error that came in its place, as state."""
    if error is None:
        return element
    return {"error": [getattr(error, "error_code", 2), getattr(error, "message", str(error))]}


def restored_item(item: State) -> tuple[Element | None, Exception | None]:
    """The element, or the error, that a state tells."""
    if isinstance(item, dict):
        return None, from_status(*item["error"])
    return item, None


def place_of(ctx: OpContext) -> str:
    """A dataset's node, and where the program built it, for messages."""
    line = user_line(ctx.op)
    return f"{ctx.op.type} {ctx.node_name!r}" + (f", built at {line}" if line else "")
