"""contrib.layers.group_norm and instance_norm: each example normalized by itself, in groups of channels or per channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.framework.building.aliases import Activation, Collections, Initializer, TensorLike, VariableCollections, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.models.functional.layer_outputs import collected, variable_collections
from weft.ops.arg_scope import add_arg_scope
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.math.elementwise import add, mul, neg
from weft.ops.math.unary import rsqrt
from weft.ops.nn.norm import batch_normalization, moments, normalize_moments, sufficient_statistics
from weft.ops.variables.initializers import Ones, Zeros
from weft.ops.variables.model_variables import model_variable
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_scope import variable_scope
from weft.ops.variables.variable_store import Reuse

# Initializers for "beta" and "gamma".
Initializers = Mapping[str, Initializer] | None


class _Parameters:
    """The offset and the factor of a normalization, one of each per channel."""

    def __init__(
        self, inputs: Tensor, channels: int, initializers: Initializers, collections: VariableCollections, trainable: bool
    ) -> None:
        self._inputs, self._channels, self._trainable = inputs, channels, trainable
        self._initializers, self._collections = initializers or {}, collections

    def beta(self, dims: Sequence[int] | None, is_there: bool) -> VariableLike | None:
        """The offset in a shape that broadcasts to the inputs, if there is one; as it is where that is None."""
        return self._wide("beta", Zeros(), dims) if is_there else None

    def gamma(self, dims: Sequence[int] | None, is_there: bool) -> VariableLike | None:
        """The factor in a shape that broadcasts to the inputs, if there is one; as it is where that is None."""
        return self._wide("gamma", Ones(), dims) if is_there else None

    def _wide(self, name: str, default: Initializer, dims: Sequence[int] | None) -> VariableLike:
        made = self._made(name, default)
        return made if dims is None else reshape(made, dims)

    def _made(self, name: str, default: Initializer) -> VariableLike:
        return model_variable(
            name, [self._channels], self._inputs.dtype.base_dtype, self._initializers.get(name, default),
            trainable=self._trainable, collections=variable_collections(self._collections, name),
        )  # fmt: skip


def _channels(inputs: Tensor, axis: int) -> int:
    channels: int | None = inputs.shape[axis].value
    if channels is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channel dimension: {axis}.")
    return channels


def _checked_axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ValueError("Axis is out of bounds.")
    return axis % rank


@add_arg_scope
def group_norm(
    inputs: TensorLike, groups: int = 32, channels_axis: int = -1, reduction_axes: Sequence[int] = (-3, -2),
    center: bool = True, scale: bool = True, epsilon: float = 1e-6, activation_fn: Activation | None = None,
    param_initializers: Initializers = None, reuse: Reuse = None, variables_collections: VariableCollections = None,
    outputs_collections: Collections = None, trainable: bool = True, scope: ScopeLike = None,
    mean_close_to_zero: bool = False,
) -> Tensor:  # fmt: skip
    """Each example normalized by the mean and variance of each group of its channels (Wu and He 2018).

    Args:
        inputs: a tensor of known rank, with known channels.
        groups: how many groups the channels are in.
        channels_axis, reduction_axes: the dimension of the channels, and those that are normalized together with a group.
        center, scale: whether there are an offset "beta" and a factor "gamma" per channel.
        epsilon: what is added to the variance.
        activation_fn: a function of the outputs, or None.
        param_initializers: a dict of initializers for "beta" and "gamma".
        reuse: whether the variables exist already; needs `scope`.
        variables_collections: collections for the variables, or a dict of them by the variable's name.
        outputs_collections: the collection, or collections, that the outputs are added to; none when None.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        scope: the variable scope, "GroupNorm" when None.
        mean_close_to_zero: take the variance from sums of squares.

    Raises:
        ValueError: the rank or the channels are not known, the axes do not fit, or the groups do not divide the channels.
    """
    inputs = convert_to_tensor(inputs)
    if inputs.dims is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    rank = len(inputs.dims)
    axis = _checked_axis(channels_axis, rank)
    channels = _channels(inputs, axis)
    reduced = [_checked_axis(each, rank) for each in reduction_axes]
    if axis in reduced:
        raise ValueError("reduction_axis must be mutually exclusive with channels_axis")
    if groups > channels:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    if channels % groups:
        raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")
    sizes = [shape(inputs)[index] if size is None else size for index, size in enumerate(inputs.dims)]
    get_default_graph().node_count.total += None not in inputs.dims  # TensorFlow takes the shape in any case.
    grouped = reshape(inputs, [*sizes[:axis], groups, channels // groups, *sizes[axis + 1 :]])
    wide = [*([1] * axis), groups, channels // groups, *([1] * (rank - axis - 1))]
    axes = [axis + 1, *(each + 1 if each > axis else each for each in reduced)]
    with variable_scope(scope, "GroupNorm", [grouped], reuse=reuse) as opened:
        parameters = _Parameters(grouped, channels, param_initializers, variables_collections, trainable)
        beta, gamma = parameters.beta(wide, center), parameters.gamma(wide, scale)
        mean, variance = _summed_moments(grouped, axes) if mean_close_to_zero else moments(grouped, axes, keep_dims=True)
        gain = rsqrt(add(variance, epsilon))
        offset = mul(neg(mean), gain)
        if gamma is not None:
            gain, offset = mul(gain, gamma), mul(offset, gamma)
        if beta is not None:
            offset = add(offset, beta)
        outputs = reshape(add(mul(grouped, gain), offset), sizes)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return collected(outputs_collections, opened.name, outputs)


def _summed_moments(inputs: Tensor, axes: list[int]) -> tuple[Tensor, Tensor]:
    counts, sums, squares, _ = sufficient_statistics(inputs, axes, keep_dims=True)
    mean, variance = normalize_moments(counts, sums, squares, shift=None)
    return mean, variance


@add_arg_scope
def instance_norm(
    inputs: TensorLike, center: bool = True, scale: bool = True, epsilon: float = 1e-6,
    activation_fn: Activation | None = None, param_initializers: Initializers = None, reuse: Reuse = None,
    variables_collections: VariableCollections = None, outputs_collections: Collections = None, trainable: bool = True,
    data_format: str = "NHWC", scope: ScopeLike = None,
) -> Tensor:  # fmt: skip
    """Each channel of each example normalized by its own mean and variance (Ulyanov et al. 2016).

    Args:
        inputs: `[batch, ..., channels]` floats, or `[batch, channels, ...]` with `data_format` "NCHW"; of known rank and
            channels.
        center, scale: whether there are an offset "beta" and a factor "gamma" per channel.
        epsilon: a small float that is added to the variance.
        activation_fn: a function of the outputs; None for none.
        param_initializers: a dict of initializers for "beta" and "gamma".
        reuse: whether the variables exist already; needs `scope`.
        variables_collections: collections for the variables, or a dict of them by the variable's name.
        outputs_collections: the collection, or collections, that the outputs are added to; none when None.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        data_format: "NHWC" or "NCHW", for any rank.
        scope: the variable scope, "InstanceNorm" when None.

    Returns:
        The shape and dtype of `inputs`.

    Raises:
        ValueError: the layout is none of the two, or the rank or the channels are not known.
    """
    inputs = convert_to_tensor(inputs)
    if inputs.dims is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    rank = len(inputs.dims)
    axis = 1 if data_format == "NCHW" else rank - 1
    with variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as opened:
        channels = _channels(inputs, axis)
        wide = [1 if index != axis else channels for index in range(rank)] if axis != rank - 1 else None
        parameters = _Parameters(inputs, channels, param_initializers, variables_collections, trainable)
        beta, gamma = parameters.beta(wide, center), parameters.gamma(wide, scale)
        mean, variance = moments(inputs, [each for each in range(1, rank) if each != axis], keep_dims=True)
        outputs = batch_normalization(inputs, mean, variance, beta, gamma, epsilon, name="instancenorm")
        outputs.set_shape(inputs.shape)
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        return collected(outputs_collections, opened.name, outputs)
