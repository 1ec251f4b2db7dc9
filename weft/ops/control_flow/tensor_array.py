"""TensorArray: tensors of one type under numbers, written and read one by one, mostly in loops."""

from __future__ import annotations

from weft.framework.building.aliases import DTypeLike, ShapeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor, is_tensor
from weft.framework.graphs.func_graph import FuncGraph
from weft.framework.graphs.graph import Graph, get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, dims_compatible, merge_dims
from weft.framework.types.dtypes import DType, as_dtype
from weft.framework.types.printed import printed
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.ops.array.identity import identity_node
from weft.ops.array.shape_ops import shape
from weft.ops.composites import register_composite
from weft.ops.control_flow import buffer_joins, buffers
from weft.ops.control_flow.ordering import no_op
from weft.ops.math.casting import cast


class TensorArray:
    """An array of tensors of one type.

    Methods that write return a new TensorArray, to be used from then on; this one keeps its elements. An element is written
    once and, with `clear_after_read`, read once: a run that does more fails with InvalidArgumentError where it notices, which
    is while the program is interpreted. Compiled code does not check.

    Args:
        dtype: the type of the elements.
        size: how many there are.
        dynamic_size: whether a write past the end makes the array grow. Such an array lives on the host.
        clear_after_read: whether an element may be read only once. Memory is freed when nothing needs it any more, either way.
        tensor_array_name: the name that errors tell.
        handle: not supported; there is no resource behind the array.
        flow: a tensor with the elements, in place of `size`.
        infer_shape: whether all elements have one shape, which the first write tells.
        element_shape: what is known of the elements' shape.
        colocate_with_first_write_call: accepted; the array is where its values are.
        name: the node's name.

    Raises:
        ValueError: neither a size nor a flow is given, or a handle is.
    """

    __repr__ = printed("tf")

    def __init__(
        self,
        dtype: DTypeLike,
        size: TensorLike | None = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: ShapeLike = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        if handle is not None:
            raise ValueError("TensorArray: a handle is not supported, there is no resource behind the array; pass its flow")
        if size is None and flow is None:
            raise ValueError("Size must be provided if handle is not provided.")
        self._dtype = as_dtype(dtype).base_dtype
        self._dynamic_size = bool(dynamic_size)
        self._infer_shape = infer_shape
        # One record for all arrays made from this one: a write in a loop's body tells the shape to what follows the loop.
        self._element: list[Dims] = [as_dims(element_shape)]
        graph = get_default_graph()
        # The graphs that TensorFlow's handle of the array has come into.
        self._entered: set[Graph] = {graph}
        called = tensor_array_name or name or "TensorArray"
        self._options = {
            "clear_after_read": clear_after_read is None or bool(clear_after_read), "tensor_array_name": called,
        }  # fmt: skip
        self._size = None
        if flow is not None:
            self._flow = flow
        else:
            assert size is not None
            with graph.name_scope(name or "TensorArray") as scope:
                count = _index(convert_to_tensor(size, None if is_tensor(size) else dtypes.int32, name="size"))
                self._size = constant_value(count)
                if self._size is not None:
                    buffers.check_size(self._size, called)
                self._flow = buffers.new_buffer(
                    count, dtype=self._dtype, element_shape=self._element[0], name=scope, **self._options
                )

    def with_flow(self, flow: Tensor) -> TensorArray:
        """The same array with other elements.

        Args:
            flow: the tensor that holds them.
        """
        made = TensorArray.__new__(TensorArray)
        made.__dict__.update(self.__dict__)
        made._flow = flow
        return made

    @property
    def flow(self) -> Tensor:
        """The tensor that holds the elements."""
        return self._flow

    @property
    def handle(self) -> Tensor:
        """The tensor that holds the elements; there is no handle."""
        return self._flow

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._dtype

    @property
    def dynamic_size(self) -> bool:
        """Whether the array grows."""
        return self._dynamic_size

    @property
    def infer_shape(self) -> bool:
        """Whether all elements have one shape."""
        return self._infer_shape

    @property
    def element_shape(self) -> TensorShape:
        """The elements' shape, as far as it is known."""
        return TensorShape(self._element[0])

    def _check_element(self, dims: Dims) -> None:
        if not dims_compatible(self._element[0], dims):
            raise ValueError(
                f"Inconsistent shapes: saw {TensorShape(dims)} but expected {self.element_shape} . All elements of a "
                "TensorArray have the shape of the first, unless it is made with infer_shape=False: then concat() joins them"
            )
        if self._infer_shape:
            self._element[0] = merge_dims(self._element[0], dims)

    def _value(self, value: TensorLike) -> Tensor:
        tensor = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
        if tensor.dtype.base_dtype is not self._dtype:
            raise TypeError(
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {tensor.dtype.base_dtype.name}\n  "
                f"value: {described(tensor)}\n  Functions that map (tf.map_fn, tf.scan) take the type of their results as "
                "`dtype`."
            )
        return tensor

    def _shaped(self, tensor: Tensor, *leading: int | None) -> Tensor:
        element = self._element[0]
        if element is not None:
            tensor.set_shape((*leading, *element))
        return tensor

    def _enter(self) -> None:
        """Count that TensorFlow brings the array's handle into the branch or loop that uses it."""
        graph = get_default_graph()
        while graph not in self._entered and isinstance(graph, FuncGraph) and graph.has_inline_bodies:
            self._entered.add(graph)
            graph.node_count.total += 1
            graph = graph.outer_graph

    def identity(self) -> TensorArray:
        """An array with the same elements."""
        return self.with_flow(identity_node(self._flow))

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> TensorArray:
        """An array of zeros for the gradients of this one's elements.

        Args:
            source: a name that tells one gradient from another.
            flow: not used; for TensorFlow's sake.

        Raises:
            TypeError: `source` is no string.
        """
        if not isinstance(source, str | bytes):
            raise TypeError(f"Expected string for argument 'source' not {source!r}: a name, such as \"gradients\"")
        return self.with_flow(buffers.buffer_zeros(self._flow if flow is None else flow, name=name))

    def read(self, index: TensorLike, name: str | None = None) -> Tensor:
        """The element at `index`.

        Args:
            index: [] int32.
        """
        self._enter()
        return self._shaped(buffers.buffer_read(self._flow, _index(index), name=name or "TensorArrayReadV3"))

    def write(self, index: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """The array with `value` at `index`.

        Args:
            index: [] int32.
            value: a tensor of the elements' dtype and shape.
        """
        with get_default_graph().name_scope(name or "TensorArrayWrite"):
            tensor = self._value(value)
            self._check_element(tensor.dims)
            self._enter()
            write = buffers.growing_buffer_write if self._dynamic_size else buffers.buffer_write
            return self.with_flow(write(self._flow, _index(index), tensor, name=name or "TensorArrayWriteV3"))

    def stack(self, name: str | None = None) -> Tensor:
        """All elements, along a new first dimension."""
        self._enter()
        graph = get_default_graph()
        # TensorFlow has the size, a range of it with its two ends, and a gather.
        with graph.name_scope(name or "TensorArrayStack"), graph.node_count.as_many_as(5):
            stacked = buffers.buffer_stack(self._flow, element_shape=self._element[0], name=name or "TensorArrayGatherV3")
            size = None if self._dynamic_size or self._size is None else int(self._size)
            return self._shaped(stacked, size)

    def gather(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The elements at `indices`, along a new first dimension.

        Args:
            indices: [n] int32.
        """
        self._enter()
        numbers = _indices(indices)
        gathered = buffers.buffer_gather(self._flow, numbers, name=name or "TensorArrayGatherV3")
        return self._shaped(gathered, *(numbers.dims or (None,)))

    def concat(self, name: str | None = None) -> Tensor:
        """All elements one after the other along their first dimension."""
        self._enter()
        joined: Tensor = buffer_joins.buffer_concat(self._flow, name=name or "TensorArrayConcatV3")
        element = self._element[0]
        if element:
            joined.set_shape((None, *element[1:]))
        return joined

    def unstack(self, value: TensorLike, name: str | None = None) -> TensorArray:
        """The array with the parts of `value` along its first dimension as elements.

        Args:
            value: `[n, ...]` tensor of the elements' dtype.
        """
        with get_default_graph().name_scope(name or "TensorArrayUnstack"):
            tensor = self._value(value)
            if tensor.dims is not None:
                self._check_element(_parts(tensor))
                rows = tensor.dims[0]
                if self._dynamic_size or self._size is None:
                    self._size = rows
                elif rows not in (None, self._size):
                    return self.scatter(list(range(rows)), tensor)
            self._enter()
            node = f"{name or 'TensorArrayScatter'}/{name or 'TensorArrayScatterV3'}"
            # TensorFlow has a shape, a slice of four nodes, a range of three, and the scatter.
            with get_default_graph().node_count.as_many_as(9):
                return self.with_flow(buffers.buffer_unstack(tensor, name=node, **self._options))

    def scatter(self, indices: TensorLike, value: TensorLike, name: str | None = None) -> TensorArray:
        """The array with the parts of `value` along its first dimension at `indices`.

        Args:
            indices: [n] int32.
            value: `[n, ...]` tensor of the elements' dtype.
        """
        with get_default_graph().name_scope(name or "TensorArrayScatter"):
            tensor = self._value(value)
            if tensor.dims is not None:
                self._check_element(_parts(tensor))
            self._enter()
            numbers = _indices(indices)
            _check_each_has_a_part(numbers, tensor)
            scatter = buffers.growing_buffer_scatter if self._dynamic_size else buffers.buffer_scatter
            return self.with_flow(scatter(self._flow, numbers, tensor, name=name or "TensorArrayScatterV3"))

    def split(self, value: TensorLike, lengths: TensorLike, name: str | None = None) -> TensorArray:
        """The array with consecutive parts of `value`, `lengths` long, as elements.

        Args:
            value: `[rows, ...]` tensor of the elements' dtype.
            lengths: [n] int32: how many rows each element has.
        """
        with get_default_graph().name_scope(name or "TensorArraySplit"):
            self._enter()
            tensor = self._value(value)
            sizes = convert_to_tensor(lengths, name="lengths")
            with get_default_graph().node_count.as_many_as(1):  # TensorFlow's is of int64
                sizes = cast(sizes, dtypes.int32)
            known = constant_value(sizes)
            if self._infer_shape and known is not None and len(set(known.tolist())) == 1 and tensor.dims is not None:
                self._check_element((int(known[0]), *(_parts(tensor) or ())))
            count = -1 if self._dynamic_size or self._size is None else int(self._size)
            made = buffer_joins.buffer_split(
                tensor, sizes, size=count, infer_shape=self._infer_shape, name=name or "TensorArraySplitV3"
            )
            return self.with_flow(made)

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements in it."""
        self._enter()
        if not self._dynamic_size and self._size is not None:
            return convert_to_tensor(int(self._size), dtypes.int32, name=name or "TensorArraySizeV3")
        graph = get_default_graph()
        with graph.name_scope(name or "TensorArraySizeV3"), graph.node_count.as_many_as(1):
            return shape(self._flow)[0]

    def close(self, name: str | None = None) -> Operation:
        """Do nothing: memory is freed when nothing needs it any more.

        Returns:
            An operation that does nothing.
        """
        return no_op(name=name or "TensorArrayCloseV3")

    def mark_used(self) -> None:
        """Do nothing; programs of TensorFlow call it."""


def _index(index: TensorLike) -> Tensor:
    number = convert_to_tensor(index, name="index")
    if not number.dtype.is_integer:
        raise TypeError(f"TensorArray: an index must be an integer, got {index!r} of type {number.dtype.base_dtype.name}")
    return cast(number, dtypes.int32)


def _indices(indices: TensorLike) -> Tensor:
    # No indices at all are floats by themselves.
    numbers = _index(convert_to_tensor(indices, name="indices", preferred_dtype=dtypes.int32))
    if numbers.dims is not None and len(numbers.dims) != 1:
        raise ValueError(
            f"Shape must be rank 1 but is rank {len(numbers.dims)}: indices of a TensorArray are a vector, such as [0]\n  "
            f"indices: {described(numbers)}"
        )
    return numbers


def _check_each_has_a_part(indices: Tensor, value: Tensor) -> None:
    if indices.dims and value.dims and not dims_compatible(indices.dims, value.dims[:1]):
        raise ValueError(
            f"Dimensions must be equal, but are {indices.dims[0]} and {value.dims[0]}: at each index a part of the value is "
            f"written\n  indices: {described(indices)}\n  value: {described(value)}"
        )


def _parts(value: Tensor) -> Dims:
    """The shape of the parts of a value along its first dimension."""
    if not value.dims:
        raise ValueError(
            f"Shape must be at least rank 1 but is rank 0: elements are the parts of the value along its first dimension\n  "
            f"value: {described(value)}\n  `write` writes one element."
        )
    return value.dims[1:]


register_composite(TensorArray, lambda array: [array.flow], lambda array, tensors: array.with_flow(tensors[0]))
