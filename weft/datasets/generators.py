"""Datasets of Python generators: what `iter` of a callable's result gives, by way of py_func."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from weft.datasets import nest, structure
from weft.datasets.selecting import Made
from weft.datasets.traced import Traced
from weft.framework.building.aliases import Array, Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.ops.data import generator as nodes
from weft.ops.process.script import numpy_function


class GeneratorState:
    """The generators that passes over a dataset have begun, by number.

    Args:
        generator: gives an iterable for the values of the arguments.
    """

    def __init__(self, generator: Callable[..., Iterable[Nest]]) -> None:
        self.generator = generator
        self._numbers = itertools.count()
        self._args: dict[int, Sequence[Array]] = {}
        self._iterators: dict[int, Iterator[Nest]] = {}

    def begin(self, *args: Array) -> Array:
        """The number of a new pass."""
        number = next(self._numbers)
        self._args[number] = args
        return np.asarray(number, np.int64)

    def following(self, number: int) -> Nest:
        """The next value of a pass; StopIteration at its end."""
        iterator = self._iterators.get(number)
        if iterator is None:
            iterator = self._iterators[number] = iter(self.generator(*self._args.pop(number)))
        return next(iterator)

    def end(self, number: int) -> Array:
        """Forget a pass."""
        self._args.pop(number, None)
        self._iterators.pop(number, None)
        return np.asarray(0, np.int64)


def generator_dataset(state: GeneratorState, spec: Nest, args: Sequence[TensorLike]) -> Made:
    """The values of one generator.

    Args:
        state: where the generator is.
        spec: what its values are to be.
        args: what the callable gets.
    """
    tensors = [convert_to_tensor(arg, name="args") for arg in args]
    number = TensorSpec((), dtypes.int64)
    scope = "Dataset.from_generator()"
    begin = Traced(lambda: _scalar(numpy_function(state.begin, tensors, dtypes.int64)), scope, ())
    following = Traced(lambda key: _values(state, key, spec), scope, number)
    end = Traced(lambda key: _scalar(numpy_function(lambda k: state.end(int(k)), [key], dtypes.int64)), scope, number)
    variant = nodes.generator_dataset(
        begin.captured, following.captured, end.captured, init_func=begin.name, next_func=following.name,
        finalize_func=end.name, **structure.flat_attrs(spec),
    )  # fmt: skip
    return Made(variant, spec)


def _scalar(tensor: Nest) -> Tensor:
    tensor.set_shape(())
    return tensor  # type: ignore[no-any-return]


def _values(state: GeneratorState, key: Tensor, spec: Nest) -> Nest:
    types = nest.map_structure(lambda leaf: leaf.dtype, spec)
    leaves = nest.flatten(spec)

    def following(number: Array) -> list[Array]:
        values = state.following(int(number))
        try:
            flat = nest.flatten_up_to(types, values)
        except (TypeError, ValueError):
            raise TypeError(
                "`generator` yielded an element that did not match the expected structure. The expected structure was "
                f"{types}, but the yielded element was {values}."
            ) from None
        return [_converted(value, leaf) for value, leaf in zip(flat, leaves, strict=True)]

    # Messages name the function of the program.
    functools.update_wrapper(following, state.generator)
    found = numpy_function(following, [key], nest.flatten(types))
    tensors: list[Tensor] = found if isinstance(found, list) else [found]
    for tensor, leaf in zip(tensors, leaves, strict=True):
        tensor.set_shape(leaf.shape)
    return nest.pack_sequence_as(spec, tensors)


def _converted(value: object, leaf: TensorSpec) -> Array:
    wanted: DType = leaf.dtype
    try:
        array = _array(value, wanted)
    except (TypeError, ValueError, NotImplementedError):
        # NotImplementedError is what a tensor says, which has no value here.
        raise TypeError(
            "`generator` yielded an element that could not be converted to the expected type. The expected type was "
            f"{wanted.name}, but the yielded element was {value}."
        ) from None
    if not leaf.shape.is_compatible_with(array.shape):
        raise ValueError(
            f"`generator` yielded an element of shape {array.shape} where an element of shape {leaf.shape} was expected."
        )
    return array


def _array(value: object, wanted: DType) -> Array:
    if wanted is not dtypes.string:
        return np.asarray(value, dtype=wanted.as_numpy_dtype)
    array = np.asarray([value] if isinstance(value, bytes | str) else value, object)
    texts = [each.encode() if isinstance(each, str) else each for each in array.ravel().tolist()]
    if not all(isinstance(each, bytes) for each in texts):
        raise TypeError("no strings")
    result = np.empty(len(texts), object)
    result[:] = texts
    return result.reshape(() if isinstance(value, bytes | str) else array.shape)
