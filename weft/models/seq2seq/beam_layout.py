"""The two layouts of a beam search's tensors: beams beside each other in a batch, and as a dimension of their own."""

from __future__ import annotations

from weft.framework.building.aliases import Nest, SizeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import where
from weft.ops.array.sequences import sequence_mask
from weft.ops.array.shape_ops import expand_dims, reshape, shape
from weft.ops.array.tiling import tile
from weft.ops.array.transposing import transpose
from weft.ops.control_flow.assertion import assert_that
from weft.ops.control_flow.tensor_array import TensorArray
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, logical_and, logical_or
from weft.ops.math.reduce_functions import reduce_max
from weft.ops.nn.beam_search import gather_tree
from weft.platform.logs import tf_logging


def tile_batch(t: Nest, multiplier: int, name: str | None = None) -> Nest:
    """Tensors `[batch, ...]`, nested, with each entry of the batch `multiplier` times in a row: `[batch * multiplier, ...]`.

    Args:
        t: the tensors.
        multiplier: how many times.

    Returns:
        The structure of such tensors.

    Raises:
        ValueError: the rank of one is not known, or it is a scalar.
    """
    with input_scope(name, "tile_batch", nest.flatten(t)):
        return nest.map_structure(lambda each: _tiled(each, multiplier), t)


def _tiled(value: TensorLike, multiplier: int) -> Tensor:
    tensor = convert_to_tensor(value, name="t")
    dims = tensor.dims
    if not dims:
        raise ValueError(f"t must have statically known rank of at least 1, but {tensor.name} has the shape {tensor.shape}")
    beside = tile(expand_dims(tensor, 1), [1, multiplier, *[1] * (len(dims) - 1)])
    sizes = shape(tensor)
    tiled = reshape(beside, concat([[sizes[0] * multiplier], sizes[1:]], 0))
    tiled.set_shape([None if dims[0] is None else dims[0] * multiplier, *dims[1:]])
    return tiled


class BeamLayout:
    """How tensors `[batch * beams, ...]`, which a cell takes, and `[batch, beams, ...]`, which a search orders, become another.

    Args:
        batch_size: how many sequences are searched for, a number or a scalar tensor.
        width: how many beams there are for each.
    """

    def __init__(self, batch_size: SizeLike, width: int) -> None:
        self.batch_size, self.width = batch_size, width
        known = constant_value(batch_size) if isinstance(batch_size, Tensor) else batch_size
        self.static_batch_size = None if known is None else int(known)

    def split(self, tensor: Tensor, size: Nest) -> Tensor:
        """`[batch * beams, ...]` as `[batch, beams, ...]`; a scalar and an array as they are.

        Args:
            tensor: the tensor.
            size: what is known of the other dimensions: a size, a shape, or a tensor of one.

        Raises:
            ValueError: the batch is not one of so many beams.
        """
        if isinstance(tensor, TensorArray) or _rank(tensor) == 0:
            return tensor
        self._refuse_untiled(tensor)
        made = reshape(tensor, concat([[self.batch_size, self.width], shape(tensor)[1:]], 0))
        wanted = TensorShape([self.static_batch_size, self.width]).concatenate(_shape_of(size))
        if not made.shape.is_compatible_with(wanted):
            raise ValueError(
                f"Unexpected behavior when reshaping between beam width and batch size.  The reshaped tensor has shape: "
                f"{made.shape}.  We expected it to have shape (batch_size, beam_width, depth) == {wanted}.  Perhaps you forgot "
                "to create a zero_state with batch_size=encoder_batch_size * beam_width?"
            )
        made.set_shape(wanted)
        return made

    def _refuse_untiled(self, tensor: Tensor) -> None:
        dims = tensor.dims
        if self.static_batch_size is None or not dims or dims[0] in (None, self.static_batch_size * self.width):
            return
        raise ValueError(
            f"A beam search of {self.static_batch_size} sequences with beam_width={self.width} takes a state of "
            f"{self.static_batch_size * self.width} rows, and got\n  state: {described(tensor)}\n  "
            f"tf.contrib.seq2seq.tile_batch(state, multiplier={self.width}) makes it of an encoder's, and cell.zero_state "
            "takes the batch times beam_width."
        )

    def merge(self, tensor: Tensor, size: Nest) -> Tensor:
        """`[batch, beams, ...]` as `[batch * beams, ...]`; what has fewer dimensions, and an array, as they are."""
        if isinstance(tensor, TensorArray) or _rank(tensor) < 2:
            return tensor
        made = reshape(tensor, concat([[self.batch_size * self.width], shape(tensor)[2:]], 0))
        known = None if self.static_batch_size is None else self.static_batch_size * self.width
        made.set_shape(TensorShape([known]).concatenate(_shape_of(size)))
        return made

    def reordered(self, tensor: Tensor, beams: Tensor, nodes: int) -> Tensor:
        """`[batch, beams, ...]` with the beams `[batch, beams]` in the place of its own; scalars and arrays as they are.

        Args:
            tensor: the tensor.
            beams: the places of the beams.
            nodes: how many nodes TensorFlow makes for it.
        """
        if isinstance(tensor, TensorArray) or _rank(tensor) < 2:
            get_default_graph().node_count.total += 2
            return tensor
        with get_default_graph().node_count.as_many_as(nodes):
            taken = gather(tensor, beams, axis=1, batch_dims=1)
        taken.set_shape(TensorShape([self.static_batch_size]).concatenate(tensor.shape[1:]))
        return taken

    def sorted_array(self, array: Nest, parents: Tensor, lengths: Tensor) -> Nest:
        """The elements of a TensorArray `[steps, ...]`, each with the beams in the order that the search ended with.

        Anything else comes back as it is, as does an array whose elements are not known to be of a batch and its beams.

        Args:
            array: of elements `[batch * beams, ...]` or `[batch, beams, ...]`.
            parents: `[steps, batch, beams]`, the beams that each step's came from.
            lengths: `[batch, beams]`, of the sequences.
        """
        if not isinstance(array, TensorArray) or not self._can_sort(array):
            return array
        elements = array.stack()
        with get_default_graph().control_dependencies([self._checked(elements)]):
            return _in_final_order(elements, parents, lengths)

    def _can_sort(self, array: TensorArray) -> bool:
        dims = array.element_shape.as_list() if array.element_shape.ndims else None
        if not dims:
            tf_logging.warning(
                "The TensorArray %s in the cell state is not sorted by the beam search: its elements must have a shape of at "
                "least rank 1, but it is %s", array.flow.name, array.element_shape,
            )  # fmt: skip
            return False
        batch, width = self.static_batch_size, self.width
        # As in TensorFlow, elements whose second dimension is known as well are left as they are: programs stack them.
        if batch is None or dims[0] is None or (dims[0] == batch * width and dims[1:2] in ([], [None])):
            return True
        tf_logging.warning(
            "TensorArray reordering expects elements to be reshapable to (%s, %s, ?), which %s is not. Set "
            "reorder_tensor_arrays to False to leave the arrays as they are.", batch, width, array.element_shape,
        )  # fmt: skip
        return False

    def _checked(self, elements: Tensor) -> Operation:
        sizes = shape(elements)
        fits = equal(sizes[1], self.batch_size * self.width)
        if _rank(elements) > 2:
            fits = logical_or(fits, logical_and(equal(sizes[1], self.batch_size), equal(sizes[2], self.width)))
        message = (
            "TensorArray reordering expects elements to be reshapable to [batch_size, beam_size, -1] which is incompatible "
            f"with the dynamic shape of {elements.name} elements. Consider setting reorder_tensor_arrays to False to disable "
            "TensorArray reordering during the beam search."
        )
        return assert_that(fits, [message])


def _in_final_order(elements: Tensor, parents: Tensor, lengths: Tensor) -> Tensor:
    sizes = shape(parents)
    beams = tile(reshape(range_of(sizes[2]), [1, 1, -1]), [sizes[0], sizes[1], 1])
    ends = cast(reduce_max(lengths, axis=1), dtypes.int32)
    found = gather_tree(beams, parents, ends, sizes[2] + 1)
    # Past its end a beam stays what it is.
    inside = transpose(sequence_mask(lengths, maxlen=sizes[0]), [2, 0, 1])
    wide = reshape(elements, concat([sizes, [-1]], 0))
    return reshape(gather(wide, where(inside, found, beams), axis=2, batch_dims=2), shape(elements))


def _rank(tensor: Tensor) -> int:
    if tensor.shape.ndims is None:
        raise ValueError(f"Expected tensor ({tensor}) to have known rank, but ndims == None.")
    return tensor.shape.ndims


def _shape_of(size: Nest) -> TensorShape:
    if isinstance(size, Tensor):
        known = constant_value(size)
        if known is None:
            return TensorShape([None]) if size.shape.ndims == 0 else TensorShape(None)
        size = known.tolist()
    return TensorShape([size]) if isinstance(size, int) else TensorShape(size)
