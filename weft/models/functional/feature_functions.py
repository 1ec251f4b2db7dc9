"""contrib.layers' functions of features: maxout, unit_norm, spatial_softmax, dense_to_sparse."""

from __future__ import annotations

from weft.framework.building.aliases import Collections, TensorLike, VariableCollections
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.models.functional.layer_outputs import collected, variable_collections
from weft.ops.arg_scope import add_arg_scope
from weft.ops.array.batch_gather import gather_nd
from weft.ops.array.joining import concat
from weft.ops.array.ranges import linspace
from weft.ops.array.selection import where
from weft.ops.array.sequences import meshgrid
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.array.transposing import transpose
from weft.ops.input_scope import input_scope
from weft.ops.math.comparison import not_equal
from weft.ops.math.division import div, truediv
from weft.ops.math.elementwise import add, mul, square
from weft.ops.math.reduce_functions import reduce_max, reduce_sum
from weft.ops.math.unary import sqrt
from weft.ops.nn.softmax import softmax
from weft.ops.variables.initializers import Constant, Ones
from weft.ops.variables.model_variables import model_variable
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_scope import variable_scope


@add_arg_scope
def maxout(inputs: TensorLike, num_units: int, axis: int = -1, scope: ScopeLike = None) -> Tensor:
    """The greatest of each `features // num_units` neighbours along an axis (Goodfellow et al. 2013).

    Args:
        inputs: `[..., features, ...]` of known rank.
        num_units: how many outputs there are along the axis.
        axis: the dimension of the features.
        scope: the variable scope, "MaxOut" when None.

    Returns:
        The inputs' shape with `num_units` in the dimension `axis`.

    Raises:
        ValueError: the number of features is not known, or no multiple of `num_units`.
    """
    with variable_scope(scope, "MaxOut", [inputs]):
        inputs = convert_to_tensor(inputs)
        sizes = inputs.shape.as_list()
        features = sizes[axis]
        if features is None or features % num_units:
            raise ValueError(f"number of features({features}) is not a multiple of num_units({num_units})")
        sizes[axis] = num_units
        known = [shape(inputs)[index] if size is None else size for index, size in enumerate(sizes)]
        return reduce_max(reshape(inputs, [*known, features // num_units]), -1)


@add_arg_scope
def unit_norm(inputs: TensorLike, dim: int, epsilon: float = 1e-7, scope: ScopeLike = None) -> Tensor:
    """The inputs divided by their lengths along one dimension.

    Args:
        inputs: floats of known rank.
        dim: the dimension, from 0 on; negative ones are not taken.
        epsilon: a small float that is added to the sum of the squares.
        scope: the variable scope, "UnitNorm" when None.

    Returns:
        The shape and dtype of `inputs`.

    Raises:
        ValueError: the rank is not known, or has no such dimension.
    """
    with variable_scope(scope, "UnitNorm", [inputs]):
        inputs = convert_to_tensor(inputs)
        if not inputs.dims:
            raise ValueError("The input rank must be known.")
        if not 0 <= dim < len(inputs.dims):
            raise ValueError("dim must be positive but smaller than the input rank.")
        # TensorFlow repeats the lengths; later random nodes get their seeds by the count.
        get_default_graph().node_count.total += 12 + (dim < len(inputs.dims) - 1)
        return div(inputs, sqrt(add(epsilon, reduce_sum(square(inputs), dim, True))))


@add_arg_scope
def spatial_softmax(
    features: Tensor, temperature: float | None = None, name: str | None = None,
    variables_collections: VariableCollections = None, trainable: bool = True, data_format: str = "NHWC",
) -> Tensor:  # fmt: skip
    """The expected place of each channel's feature: `[batch, height, width, channels] -> [batch, 2 * channels]`, in -1 to 1.

    Args:
        features: `[batch, height, width, channels]`, or `[batch, channels, height, width]` with "NCHW".
        temperature: what "temperature", a variable that divides the features, begins with; 1 when None.
        name: the variable scope.
        variables_collections: collections for the variable.
        trainable: whether it is to be trained.
        data_format: "NHWC" or "NCHW".

    Raises:
        ValueError: the layout or the channels are not known.
    """
    with variable_scope(name, "spatial_softmax"):
        if data_format not in ("NHWC", "NCHW"):
            raise ValueError("data_format has to be either NCHW or NHWC.")
        last = data_format == "NHWC"
        sizes, channels = shape(features), features.shape[3 if last else 1].value
        height, width = (sizes[1], sizes[2]) if last else (sizes[2], sizes[3])
        get_default_graph().node_count.total += 2  # TensorFlow counts all places twice more: later seeds go by the count.
        if channels is None:
            raise ValueError("The num_channels dimension of the inputs to `spatial_softmax` should be defined. Found `None`.")
        with input_scope(None, "spatial_softmax_op", (features,)):
            places = meshgrid(linspace(-1.0, 1.0, height), linspace(-1.0, 1.0, width), indexing="ij")
            first = Ones() if temperature is None else Constant(temperature)
            heat = model_variable(
                "temperature", (), features.dtype.base_dtype, first, trainable=trainable,
                collections=variable_collections(variables_collections, "temperature") if trainable else None,
            )  # fmt: skip
            flat = reshape(transpose(features, [0, 3, 1, 2]) if last else features, [-1, mul(height, width)])
            attention = softmax(truediv(flat, heat))
            expected = [reduce_sum(mul(reshape(each, [-1]), attention), [1], True) for each in places]
            found = reshape(concat(expected, 1), [-1, channels * 2])
            found.set_shape([None, channels * 2])
            return found


@add_arg_scope
def dense_to_sparse(
    tensor: TensorLike, eos_token: TensorLike = 0, outputs_collections: Collections = None, scope: ScopeLike = None
) -> SparseTensor:
    """The elements of a tensor that are not `eos_token`, as a sparse one.

    Args:
        tensor: a tensor of any shape and dtype.
        eos_token: [] of that dtype, the element to leave out.
        outputs_collections: the collection, or collections, that the values are added to; none when None.
        scope: the variable scope, "dense_to_sparse" when None.
    """
    with variable_scope(scope, "dense_to_sparse", [tensor]) as opened:
        tensor = convert_to_tensor(tensor)
        indices = where(not_equal(tensor, eos_token))
        made = SparseTensor(indices, gather_nd(tensor, indices), shape(tensor, out_type="int64"))
        collected(outputs_collections, opened.name, made.values)
        return made
