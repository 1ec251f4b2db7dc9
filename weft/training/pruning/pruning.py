"""The changes of masks: thresholds that leave as many weights as the sparsity of the step wants."""

from __future__ import annotations

from weft.framework.building.aliases import VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.models.layers.masks import get_masks, get_thresholds, get_weights
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import split
from weft.ops.array.padding import slice_of
from weft.ops.array.shape_ops import reshape, shape, size, squeeze
from weft.ops.array.topk import top_k
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group, no_op
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater_equal, less, less_equal, logical_and, logical_or, maximum, minimum
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.division import div, power
from weft.ops.math.elementwise import add, add_n, mul
from weft.ops.math.unary import round_to_integer
from weft.ops.nn.norm import zero_fraction
from weft.ops.summary.nodes import scalar
from weft.ops.variables.assign import assign
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Zeros
from weft.ops.variables.partitioned_variable import PartitionedVariable
from weft.ops.variables.variable_scope import variable_scope
from weft.platform.logs import tf_logging
from weft.training.hparams import HParams
from weft.training.pruning.blocks import expanded, pooled_at_once, pooled_in_two
from weft.training.pruning.specification import Specification, block_dims, get_pruning_hparams, sparsities
from weft.training.training_util import get_global_step


class Pruning:
    """What changes the masks of the default graph by a specification.

        pruning = tf.contrib.model_pruning.Pruning(tf.contrib.model_pruning.get_pruning_hparams().parse("target_sparsity=0.9"))
        update = pruning.conditional_mask_update_op()  # to be run after each training step

    Args:
        spec: hyperparameters, of `get_pruning_hparams`; the defaults when None.
        global_step: counts the steps; the graph's global step when None.
        sparsity: how much is taken out, a scalar; that of the hyperparameters' function when None.

    Raises:
        ValueError: a hyperparameter is out of its range.
    """

    def __init__(
        self, spec: HParams | None = None, global_step: VariableLike | None = None, sparsity: Tensor | float | None = None
    ) -> None:
        self._hparams = spec or get_pruning_hparams()
        self._spec = Specification(**self._hparams.values())
        self._global_step = cast(get_global_step() if global_step is None else global_step, dtypes.int32)
        self._sparsity: Tensor | float = self._gradual_sparsity() if sparsity is None else sparsity
        self._assigned: list[Operation | Tensor] = []
        self._last_update_step = self._step_of_last_update()
        self._blocks, self._sparsities = block_dims(self._spec), sparsities(self._spec)

    def __repr__(self) -> str:
        return f"<Pruning {self._spec.name!r}: {len(get_masks())} masks>"

    def mask_update_op(self) -> Operation:
        """An operation that changes all masks and thresholds.

        Raises:
            ValueError: the pooling of blocks is none of those that there are.
        """
        graph = get_default_graph()
        with graph.name_scope(self._spec.name):
            if not self._assigned:
                self._assign_all()
            noted = assign(self._last_update_step, self._global_step, name="last_mask_update_step_assign")
            with graph.control_dependencies([noted]), graph.control_dependencies(self._assigned):
                tf_logging.info("Updating masks.")
                return no_op("mask_update")

    def conditional_mask_update_op(self) -> Tensor:
        """A tensor that changes masks and thresholds when it is run in a step in which they are to."""
        updated: Tensor = cond(self._is_time(), self.mask_update_op, no_op)
        return updated

    def add_pruning_summaries(self) -> None:
        """Summarize the sparsity, the step of the last change, each mask and each threshold."""
        with get_default_graph().name_scope(f"{self._spec.name}_summaries"):
            scalar("sparsity", self._sparsity)
            scalar("last_mask_update_step", self._last_update_step)
            for mask, threshold in zip(get_masks(), get_thresholds(), strict=False):
                scalar(f"{mask.op.name}/sparsity", zero_fraction(mask))
                scalar(f"{threshold.op.name}/threshold", threshold)

    def print_hparams(self) -> None:
        """Write the hyperparameters to the log, as JSON."""
        tf_logging.info("%s", self._hparams.to_json())

    def _gradual_sparsity(self) -> Tensor:
        spec = self._spec
        begin, end = spec.sparsity_function_begin_step, spec.sparsity_function_end_step
        with get_default_graph().name_scope(spec.name):
            done = div(cast(self._global_step - begin, dtypes.float32), end - begin)
            progress = minimum(1.0, maximum(0.0, done))
            left = mul(spec.initial_sparsity - spec.target_sparsity, power(1 - progress, spec.sparsity_function_exponent))
            return add(left, spec.target_sparsity, name="sparsity")

    def _step_of_last_update(self) -> VariableLike:
        with variable_scope(self._spec.name, use_resource=self._spec.use_tpu) as scope:
            name = "last_mask_update_step"
            try:
                return get_variable(name, [], dtypes.int32, Zeros(), trainable=False)
            except ValueError:
                scope.reuse_variables()
                return get_variable(name, dtype=dtypes.int32)

    def _is_time(self) -> Tensor:
        spec, step = self._spec, self._global_step
        with get_default_graph().name_scope(spec.name):
            in_range = logical_and(
                greater_equal(step, spec.begin_pruning_step),
                logical_or(less_equal(step, spec.end_pruning_step), less(spec.end_pruning_step, 0)),
            )
            return logical_and(in_range, less_equal(add(self._last_update_step, spec.pruning_frequency), step))

    def _assign_all(self) -> None:
        for weights, mask, threshold in zip(get_weights(), get_masks(), get_thresholds(), strict=True):
            whole = weights.as_tensor() if isinstance(weights, PartitionedVariable) else weights
            new_threshold, new_mask = self._changed_by_blocks(whole, threshold)
            self._assigned += [_assigned(threshold, new_threshold), _assigned(mask, new_mask)]

    def _changed_by_blocks(self, weights: Tensor, threshold: VariableLike) -> tuple[Tensor, Tensor]:
        """The threshold and the mask of weights, which is the same all over a block."""
        spec, name = self._spec, weights.op.name
        sizes = self._blocks.of(name) or [spec.block_height, spec.block_width]
        matrix = squeeze(weights)
        if matrix.shape.ndims != 2 or sizes == [1, 1]:
            return self._changed(weights, threshold)
        dims = matrix.shape.as_list()
        sizes = [whole if given == -1 else given for given, whole in zip(sizes, dims, strict=True)]
        if spec.block_pooling_function not in ("AVG", "MAX"):
            kind = spec.block_pooling_function
            raise ValueError(f"Unknown pooling function for block sparsity: {kind}. block_pooling_function is AVG or MAX.")
        with get_default_graph().name_scope(f"{name}_pruning_ops"):
            pooled = pooled_in_two if spec.use_tpu else pooled_at_once
            blocks = pooled(absolute(matrix), sizes, spec.block_pooling_function, f"{name}_pooled")
            new_threshold, mask = self._changed(blocks, threshold)
            mask = slice_of(expanded(mask, sizes), [0, 0], dims)
        return new_threshold, reshape(mask, shape(weights))

    def _changed(self, weights: Tensor, threshold: VariableLike) -> tuple[Tensor, Tensor]:
        """The threshold that leaves as many weights as there shall be, and the mask that it gives."""
        sparsity, decay = self._sparsity_of(weights.op.name), self._spec.threshold_decay
        with get_default_graph().name_scope(f"{weights.op.name}_pruning_ops"):
            magnitudes = absolute(weights)
            left = cast(round_to_integer(cast(size(magnitudes), dtypes.float32) * (1 - sparsity)), dtypes.int32)
            ordered, _ = top_k(reshape(magnitudes, [-1]), k=size(magnitudes))
            least = gather(ordered, left - 1)
            smoothed = add_n([mul(least, 1 - decay), mul(threshold, decay)])
            return smoothed, cast(greater_equal(magnitudes, smoothed), dtypes.float32)

    def _sparsity_of(self, name: str) -> Tensor | float:
        target = self._sparsities.of(name)
        return self._sparsity if target is None else mul(self._sparsity, div(target, self._spec.target_sparsity))


def _assigned(variable: VariableLike, value: Tensor) -> Operation | Tensor:
    """What gives a variable, or all of its parts, a value."""
    if not isinstance(variable, PartitionedVariable):
        return assign(variable, value, name=f"{variable.op.name}_assign")
    parts = list(variable)
    sizes = [part.get_shape().as_list() for part in parts]
    # The parts are along the axis on which they are not the whole.
    whole = variable.get_shape().as_list()
    axis = next((axis for axis, length in enumerate(whole) if sizes[0][axis] != length), 0)
    values = split(value, [each[axis] for each in sizes], axis=axis)
    updates = [_assigned(part, each) for part, each in zip(parts, values, strict=True)]
    return group(*updates, name=f"{variable.name}_group_assign")
