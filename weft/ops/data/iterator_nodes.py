"""Iterators as operations: making one, giving it a dataset, taking elements, handing it on by a string."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from weft.errors import InvalidArgumentError, NotFoundError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.attr_value import FunctionName as Function
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.control_flow.optionals import OptionalValue
from weft.ops.data.element import boxed, source_of
from weft.ops.data.iterator_state import IteratorState
from weft.ops.declaration import no_outputs, not_differentiable, op, scalar_shape
from weft.ops.held_objects import handle_of


def _iterator(ctx: OpContext, types: Sequence[DType], shapes: Sequence[Dims]) -> IteratorState:
    name = str(ctx.attrs.get("shared_name") or ctx.node_name)
    found = ctx.find_or_create(IteratorState, lambda: IteratorState(name, types, shapes))
    found.check(types, shapes)
    return found


def _find(ctx: OpContext, handle: Array) -> IteratorState:
    return ctx.find(IteratorState, handle)


def _declare_iterator(name: str) -> Callable[..., Tensor]:
    @op(name, "-> handle: resource", infer=scalar_shape, gradient=not_differentiable, stateful=True)
    def iterator(
        ctx: OpContext, *, shared_name: str, container: str, output_types: list[DType], output_shapes: list[Dims]
    ) -> Result:
        """An iterator without a dataset: `-> scalar resource`."""
        _iterator(ctx, output_types, output_shapes)
        return boxed(ctx.handle_for(IteratorState))

    return iterator


iterator = _declare_iterator("Iterator")
iterator_v2 = _declare_iterator("IteratorV2")


@op("OneShotIterator", "-> handle: resource", infer=scalar_shape, gradient=not_differentiable, stateful=True,
    calls=("dataset_factory",))  # fmt: skip
def one_shot_iterator(
    ctx: OpContext, *, dataset_factory: Function, output_types: list[DType], output_shapes: list[Dims], container: str = "",
    shared_name: str = "",
) -> Result:  # fmt: skip
    """An iterator over the dataset that a function makes, which never begins again: `-> scalar resource`."""
    iterator = _iterator(ctx, output_types, output_shapes)
    if not iterator.is_begun:
        made = ctx.function("dataset_factory", "", ())([], ctx.caller())
        iterator.begin_once(ctx, source_of(made[0]))
    return boxed(ctx.handle_for(IteratorState))


@op("MakeIterator", "dataset: variant, iterator: resource ->", infer=no_outputs, gradient=not_differentiable, stateful=True)
def make_iterator(ctx: OpContext, dataset: Array, iterator: Array) -> tuple[()]:
    """Let an iterator begin with a dataset: `scalar variant, scalar resource ->`."""
    _find(ctx, iterator).begin(ctx, source_of(dataset))
    return ()


def _component_shapes(node: Operation) -> list[Dims]:
    shapes: list[Dims] = node.attrs["output_shapes"]
    if len(shapes) != len(node.outputs):
        raise ValueError(f"`output_shapes` has {len(shapes)} shapes for {len(node.outputs)} components")
    return list(shapes)


def _declare_get_next(name: str) -> Callable[..., list[Tensor]]:
    @op(name, "iterator: resource -> components: [output_types]", infer=_component_shapes, gradient=not_differentiable,
        stateful=True, parks=True)  # fmt: skip
    def iterator_get_next(
        ctx: OpContext, iterator: Array, *, output_types: list[DType], output_shapes: list[Dims]
    ) -> list[Result]:
        """The next element; OutOfRangeError at the end: `scalar resource -> n*[*component]`."""
        return list(_find(ctx, iterator).next(ctx))

    return iterator_get_next


iterator_get_next = _declare_get_next("IteratorGetNext")
iterator_get_next_sync = _declare_get_next("IteratorGetNextSync")


@op("IteratorGetNextAsOptional", "iterator: resource -> optional: variant", infer=scalar_shape, gradient=not_differentiable,
    stateful=True, parks=True)  # fmt: skip
def iterator_get_next_as_optional(
    ctx: OpContext, iterator: Array, *, output_types: list[DType], output_shapes: list[Dims]
) -> Result:
    """The next element of an iterator as an optional, without a value at the end: `scalar resource -> scalar variant`."""
    element = _find(ctx, iterator).next_or_none(ctx)
    return handle_of(OptionalValue(None if element is None else list(element)))


@op("IteratorToStringHandle", "resource_handle: resource -> string_handle: string", infer=scalar_shape,
    gradient=not_differentiable, stateful=True)  # fmt: skip
def iterator_to_string_handle(ctx: OpContext, resource_handle: Array) -> Result:
    """A string that stands for an iterator, with the device that it is on: `scalar resource -> scalar string`."""
    _find(ctx, resource_handle)
    return boxed(ctx.device.encode() + b"\0" + resource_handle.item())


def _declare_from_handle(name: str) -> Callable[..., Tensor]:
    @op(name, "string_handle: string -> resource_handle: resource", infer=scalar_shape, gradient=not_differentiable,
        stateful=True, limits={"output_types": 0, "output_shapes": 0})  # fmt: skip
    def iterator_from_string_handle(
        ctx: OpContext, string_handle: Array, *, output_types: list[DType] = [], output_shapes: list[Dims] = [],  # noqa: B006
    ) -> Result:  # fmt: skip
        """The iterator that a string stands for: `scalar string -> scalar resource`."""
        if string_handle.ndim:
            raise InvalidArgumentError.of("string_handle must be a scalar")
        device, separator, handle = bytes(string_handle.item()).partition(b"\0")
        if not separator:
            raise InvalidArgumentError.of(
                f"Could not parse string_handle as a valid ResourceHandle: {string_handle.item()!r}. Feed the value of an "
                "iterator's handle: session.run(iterator.string_handle())"
            )
        if device.decode() != ctx.device:
            raise InvalidArgumentError.of(
                f'Attempted create an iterator on device "{ctx.device}" from handle defined on device "{device.decode()}". '
                "Put the node on that device with tf.device"
            )
        boxed_handle = boxed(handle)
        try:
            _find(ctx, boxed_handle).check(output_types, output_shapes)
        except NotFoundError as error:
            raise NotFoundError.of(
                f"The iterator of the string_handle is gone: {error.message} It belongs to the session, or the server, in "
                "which the handle was made: run iterator.string_handle() again in this one"
            ) from None
        return boxed_handle

    return iterator_from_string_handle


iterator_from_string_handle = _declare_from_handle("IteratorFromStringHandle")
iterator_from_string_handle_v2 = _declare_from_handle("IteratorFromStringHandleV2")


@op("SerializeIterator", "resource_handle: resource -> serialized: variant", infer=scalar_shape, gradient=not_differentiable,
    stateful=True)  # fmt: skip
def serialize_iterator(ctx: OpContext, resource_handle: Array) -> Result:
    """Where an iterator is, as text in a variant: `scalar resource -> scalar variant`."""
    return boxed(_find(ctx, resource_handle).save(ctx))


@op("DeserializeIterator", "resource_handle: resource, serialized: variant ->", infer=no_outputs, gradient=not_differentiable,
    stateful=True)  # fmt: skip
def deserialize_iterator(ctx: OpContext, resource_handle: Array, serialized: Array) -> tuple[()]:
    """Let an iterator go on where one was: `scalar resource, scalar variant ->`."""
    _find(ctx, resource_handle).restore(ctx, np.asarray(serialized).item())
    return ()
