"""assert_element_shape: a dataset whose elements are checked to have shapes, which are known from then on."""

from __future__ import annotations

from weft.datasets import nest
from weft.datasets.experimental.transformations import Apply
from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.ops.array.gather_scatter import gather
from weft.ops.array.shape_ops import shape
from weft.ops.array.shape_ops import size as size_of
from weft.ops.control_flow.assertion import assert_that
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.math.comparison import equal
from weft.ops.math.reduce_functions import reduce_all


def assert_element_shape(expected_shapes: Nest) -> Apply:
    """Elements as they are, each of which a run checks to have these shapes; InvalidArgumentError where one has not.

    Args:
        expected_shapes: the shapes of the leaves, in the elements' structure; None for sizes that do not matter.

    Returns:
        A function of a dataset, for `Dataset.apply`; it raises ValueError where the shapes known contradict these.
    """
    wanted = nest.map_structure(TensorShape, expected_shapes)

    def check(*element: Nest) -> Nest:
        given = element if len(element) > 1 or isinstance(wanted, tuple) else element[0]
        return nest.map_structure_up_to(wanted, _checked, wanted, given)

    return lambda dataset: dataset.map(check)


def _checked(wanted: TensorShape, leaf: Tensor) -> Tensor:
    known = wanted.merge_with(leaf.shape)
    sizes = as_dims(wanted)
    places = [place for place, size in enumerate(sizes or ()) if size is not None]
    if sizes is None or leaf.shape.is_fully_defined():
        return leaf
    found = shape(leaf)
    data = [f"Wrong shape for {leaf.name} [expected] [actual].", [-1 if size is None else size for size in sizes], found]
    if leaf.dims is None:
        found = with_dependencies([assert_that(equal(size_of(found), len(sizes)), data)], found)
    fits = reduce_all(equal(gather(found, places), [sizes[place] for place in places])) if places else True
    made = with_dependencies([assert_that(fits, data)], with_dependencies([found], leaf))
    made.set_shape(known)
    return made
