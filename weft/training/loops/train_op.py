"""create_train_op: the loss as a tensor that trains when it is fetched, and what may happen to the gradients before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from weft.framework.building.aliases import TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.ops.control_flow import assertion
from weft.ops.control_flow.ordering import no_op, with_dependencies
from weft.ops.math.clip import clip_by_norm
from weft.ops.math.norms import global_norm
from weft.ops.summary.nodes import histogram, scalar
from weft.ops.variables.collections import trainable_variables
from weft.ops.variables.variable import Variable
from weft.platform.logs import tf_logging
from weft.training.optimizers.optimizer import Optimizer
from weft.training.training_util import get_or_create_global_step

Gradient = Tensor | IndexedSlices | None
Pairs = list[tuple[Gradient, VariableLike]]
"""Gradients, None where there is none, each with its variable."""

Multipliers = dict[VariableLike, TensorLike]
"""Factors of gradients, by variable or by its op's name."""

USE_GLOBAL_STEP: Final[Any] = 0
"""Stands for the graph's own global step."""


def clip_gradient_norms(gradients_to_variables: Pairs, max_norm: TensorLike) -> Pairs:
    """The pairs with each gradient scaled down to the norm `max_norm`, if it is longer.

    Args:
        gradients_to_variables: pairs of gradient (a tensor, IndexedSlices or None) and variable.
        max_norm: [] float, the greatest norm of a single gradient.
    """
    return [
        (None if gradient is None else _mapped(gradient, lambda values: clip_by_norm(values, max_norm)), variable)
        for gradient, variable in gradients_to_variables
    ]


def clip_gradient_norms_fn(max_norm: TensorLike) -> Callable[[Pairs], Pairs]:
    """`clip_gradient_norms` as a `transform_grads_fn`.

    Args:
        max_norm: [] float, the greatest norm of a single gradient.
    """
    return lambda pairs: clip_gradient_norms(pairs, max_norm)


def multiply_gradients(grads_and_vars: Pairs, gradient_multipliers: Multipliers) -> Pairs:
    """The pairs with some gradients multiplied.

    Args:
        grads_and_vars: the pairs.
        gradient_multipliers: factors by variable or by its op's name.

    Raises:
        ValueError: an argument is of another kind, there are no factors, or one is for a variable without a gradient.
    """
    if not isinstance(grads_and_vars, list):
        raise ValueError("`grads_and_vars` must be a list.")
    if not gradient_multipliers:
        raise ValueError("`gradient_multipliers` is empty.")
    if not isinstance(gradient_multipliers, dict):
        raise ValueError("`gradient_multipliers` must be a dict.")
    return [(_multiplied(gradient, variable, gradient_multipliers), variable) for gradient, variable in grads_and_vars]


def _multiplied(gradient: Gradient, variable: VariableLike, factors: Multipliers) -> Gradient:
    key = variable if variable in factors else variable.op.name
    if key not in factors:
        return gradient
    if gradient is None:
        raise ValueError(f"Requested multiple of `None` gradient. The loss does not depend on variable {variable.op.name!r}")
    factor = factors[key]
    if not isinstance(factor, Tensor):
        factor = convert_to_tensor(factor, dtype=gradient.dtype.base_dtype)
    return _mapped(gradient, lambda values: values * factor)


def _mapped(gradient: Tensor | IndexedSlices, change: Callable[[Tensor], Tensor]) -> Gradient:
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(change(gradient.values), gradient.indices, gradient.dense_shape)
    return change(gradient)


def add_gradients_summaries(grads_and_vars: Pairs) -> list[Tensor]:
    """The summaries of each gradient: the histogram VARIABLE_gradient and the scalar VARIABLE_gradient_norm.

    Args:
        grads_and_vars: pairs of gradient (a tensor, IndexedSlices or None) and variable; those of None are logged and left
            out.

    Returns:
        The [] string tensors of the summaries, two for each gradient; they are in the collection SUMMARIES too.
    """
    return _summaries(grads_and_vars, "_")


def add_slim_gradients_summaries(grads_and_vars: Pairs) -> list[Tensor]:
    """The summaries of each gradient: the histogram VARIABLE/gradient and the scalar VARIABLE/gradient_norm.

    Args:
        grads_and_vars: pairs of gradient (a tensor, IndexedSlices or None) and variable; those of None are logged and left
            out.

    Returns:
        The [] string tensors of the summaries, two for each gradient; they are in the collection SUMMARIES too.
    """
    return _summaries(grads_and_vars, "/")


def _summaries(pairs: Pairs, separator: str) -> list[Tensor]:
    made = []
    for gradient, variable in pairs:
        if gradient is None:
            tf_logging.info("Var %s has no gradient", variable.op.name)
            continue
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        name = f"{variable.op.name}{separator}gradient"
        made += [histogram(name, values), scalar(f"{name}_norm", global_norm([values]))]
    return made


def create_train_op(
    total_loss: Tensor, optimizer: Optimizer, global_step: Variable | None = USE_GLOBAL_STEP,
    update_ops: Iterable[Operation | Tensor] | None = None, variables_to_train: Sequence[VariableLike] | None = None,
    transform_grads_fn: Callable[[Pairs], Pairs] | None = None, summarize_gradients: bool = False,
    gate_gradients: int = Optimizer.GATE_OP, aggregation_method: int | None = None,
    colocate_gradients_with_ops: bool = False, check_numerics: bool = True,
) -> Tensor:  # fmt: skip
    """The loss as a tensor that trains one step when it is fetched; it joins the collection TRAIN_OP.

    Args:
        total_loss: the scalar to make smaller.
        optimizer: the optimizer.
        global_step: counts the steps; None: nothing does.
        update_ops: what to run before the loss; the collection UPDATE_OPS when None.
        variables_to_train: what to train; all trainable variables when None.
        transform_grads_fn: a function of the `(gradient, variable)` pairs that returns the pairs to apply.
        summarize_gradients: whether to summarize them.
        gate_gradients, aggregation_method, colocate_gradients_with_ops: as for `Optimizer.compute_gradients`.
        check_numerics: whether a loss that is infinite or not a number is an InvalidArgumentError.

    Raises:
        AssertionError: there is no variable to train, or one is not trainable.
    """
    if global_step is USE_GLOBAL_STEP:
        global_step = get_or_create_global_step()
    total_loss = _after_updates(total_loss, update_ops)
    pairs = optimizer.compute_gradients(
        total_loss, _to_train(variables_to_train), gate_gradients=gate_gradients, aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )  # fmt: skip
    if transform_grads_fn:
        pairs = transform_grads_fn(pairs)
    graph = get_default_graph()
    if summarize_gradients:
        with graph.name_scope("summarize_grads"):
            add_gradients_summaries(pairs)
    applied = optimizer.apply_gradients(pairs, global_step=global_step)
    return _train_op(applied, total_loss, check_numerics)


def _train_op(applied: Operation, total_loss: Tensor, is_checked: bool) -> Tensor:
    graph = get_default_graph()
    with graph.name_scope("train_op"):
        if is_checked:
            total_loss = assertion.check_numerics(total_loss, "LossTensor is inf or nan")
        made = with_dependencies([applied], total_loss)
    graph.add_to_collection(GraphKeys.TRAIN_OP, made)
    return made


def _after_updates(total_loss: Tensor, update_ops: Iterable[Operation | Tensor] | None) -> Tensor:
    graph = get_default_graph()
    collected = graph.get_collection(GraphKeys.UPDATE_OPS)
    updates = list(dict.fromkeys(collected if update_ops is None else update_ops))
    if any(each not in updates for each in collected):
        tf_logging.warning("update_ops in create_train_op does not contain all the update_ops in GraphKeys.UPDATE_OPS")
    if not updates:
        return total_loss
    with graph.control_dependencies(updates):
        barrier = no_op(name="update_barrier")
    return with_dependencies([barrier], total_loss)


def _to_train(given: Sequence[VariableLike] | None) -> Sequence[VariableLike]:
    trainable = trainable_variables()
    chosen = trainable if given is None else given
    if not chosen:
        raise AssertionError("There is no variable to train: the graph has no trainable variable, or the list is empty")
    for each in chosen:
        if not (each.trainable or any(each is other for other in trainable)):
            raise AssertionError(f"Variable {each.op.name!r} is not trainable: make it with trainable=True, or leave it out")
    return chosen


def create_slim_train_op(
    total_loss: Tensor, optimizer: Optimizer, global_step: Variable | None = USE_GLOBAL_STEP,
    update_ops: Iterable[Operation | Tensor] | None = None, variables_to_train: Sequence[VariableLike] | None = None,
    clip_gradient_norm: float = 0, summarize_gradients: bool = False, gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Multipliers | None = None, check_numerics: bool = True,
) -> Tensor:  # fmt: skip
    """`create_train_op` that can multiply and clip the gradients, as slim's does.

    Args:
        clip_gradient_norm: the greatest norm of each gradient; 0 for any.
        gradient_multipliers: factors of gradients, by variable or by its op's name.
        total_loss, optimizer, global_step, update_ops, variables_to_train, summarize_gradients, gate_gradients,
            aggregation_method, colocate_gradients_with_ops, check_numerics: as for `create_train_op`.
    """

    def transformed(pairs: Pairs) -> Pairs:
        graph = get_default_graph()
        if gradient_multipliers:
            with graph.name_scope("multiply_grads"):
                pairs = multiply_gradients(pairs, gradient_multipliers)
        if clip_gradient_norm > 0:
            with graph.name_scope("clip_grads"):
                pairs = clip_gradient_norms(pairs, clip_gradient_norm)
        return pairs

    return create_train_op(
        total_loss, optimizer, global_step, update_ops, variables_to_train, transformed, summarize_gradients,
        gate_gradients, aggregation_method, colocate_gradients_with_ops, check_numerics,
    )  # fmt: skip
