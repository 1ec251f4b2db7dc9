"""contrib.layers.optimize_loss: the whole of a training operation in one call."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from weft.framework.building.aliases import NumberLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.ops.array.shape_ops import shape
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.math.casting import cast
from weft.ops.math.clip import clip_by_global_norm
from weft.ops.math.elementwise import add, mul
from weft.ops.math.norms import global_norm
from weft.ops.random.functions import truncated_normal
from weft.ops.summary.nodes import histogram, scalar
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Constant
from weft.ops.variables.variable import Variable
from weft.ops.variables.variable_scope import variable_scope
from weft.training.optimizers.adagrad import AdagradOptimizer
from weft.training.optimizers.adam import AdamOptimizer
from weft.training.optimizers.ftrl import FtrlOptimizer
from weft.training.optimizers.gradient_descent import GradientDescentOptimizer
from weft.training.optimizers.momentum import MomentumOptimizer
from weft.training.optimizers.optimizer import Optimizer
from weft.training.optimizers.rmsprop import RMSPropOptimizer
from weft.training.training_util import assert_global_step, get_global_step

OPTIMIZER_CLS_NAMES: Final = {
    "Adagrad": AdagradOptimizer, "Adam": AdamOptimizer, "Ftrl": FtrlOptimizer,
    "Momentum": functools.partial(MomentumOptimizer, momentum=0.9), "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}  # fmt: skip
OPTIMIZER_SUMMARIES: Final = ("learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm")


def optimize_loss(
    loss: Tensor, global_step: Variable | None, learning_rate: NumberLike, optimizer: object,
    gradient_noise_scale: float | None = None, gradient_multipliers: object = None, clip_gradients: object = None,
    learning_rate_decay_fn: object = None, update_ops: Iterable[Operation] | None = None,
    variables: Iterable[Variable | Tensor] | None = None, name: str | None = None,
    summaries: Sequence[str] | None = None, colocate_gradients_with_ops: bool = False, increment_global_step: bool = True,
) -> Tensor:  # fmt: skip
    """The loss as a tensor that trains one step when it is fetched.

    Args:
        loss: the scalar to make smaller.
        global_step: counts the steps; the graph's own when None.
        learning_rate: a number or a scalar tensor; None for an optimizer that has its own.
        optimizer: a name in OPTIMIZER_CLS_NAMES, an Optimizer, its class, or a function of the learning rate (or of nothing).
        gradient_noise_scale: how much noise to add to the gradients.
        gradient_multipliers: a dict of factors by variable or its name.
        clip_gradients: the greatest norm of all gradients together, or a function of `(gradient, variable)` pairs.
        learning_rate_decay_fn: a function of learning rate and global step.
        update_ops: what to run before the loss; the collection UPDATE_OPS when None.
        variables: what to train; all trainable variables when None.
        name: the variable scope, "OptimizeLoss" when None.
        summaries: which of OPTIMIZER_SUMMARIES to write; "loss" and "learning_rate" when None.
        colocate_gradients_with_ops: put gradients beside the ops that they differentiate.
        increment_global_step: whether to count the step.

    Returns:
        A scalar tensor, the loss after the update.

    Raises:
        ValueError: an argument is of another kind or value than these.
    """
    loss = convert_to_tensor(loss)
    if loss.shape.ndims:
        raise ValueError(f"The loss must be a scalar, got shape {loss.shape}")
    global_step = get_global_step() if global_step is None else global_step
    if global_step is not None:
        assert_global_step(global_step)
    with variable_scope(name, "OptimizeLoss", [loss, global_step]):
        graph = get_default_graph()
        updates = list(graph.get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else update_ops)
        if updates:
            loss = with_dependencies(updates, loss)
        wanted = ("loss", "learning_rate", "global_gradient_norm") if summaries is None else tuple(summaries)
        for each in wanted:
            if each not in OPTIMIZER_SUMMARIES:
                raise ValueError(f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided {each}.")
        rate = _rate(learning_rate, learning_rate_decay_fn, global_step, wanted)
        chosen = _optimizer(optimizer, rate)
        pairs = chosen.compute_gradients(loss, variables, colocate_gradients_with_ops=colocate_gradients_with_ops)
        pairs = _changed(pairs, gradient_noise_scale, gradient_multipliers)
        told = "global_gradient_norm" in wanted or "gradient_norm" in wanted
        if told:
            scalar("global_norm/gradient_norm", global_norm([gradient for gradient, _ in pairs]))
        pairs = _clipped(pairs, clip_gradients)
        if "loss" in wanted:
            scalar("loss", loss)
        _summarize(pairs, wanted)
        if told and clip_gradients is not None:
            scalar("global_norm/clipped_gradient_norm", global_norm([gradient for gradient, _ in pairs]))
        step = global_step if increment_global_step else None
        return with_dependencies([chosen.apply_gradients(pairs, global_step=step, name="train")], loss)


def _rate(learning_rate: NumberLike, decay: Any, global_step: Variable | Tensor | None, wanted: Sequence[str]) -> Any:
    if learning_rate is None:
        return None
    if isinstance(learning_rate, float | int):
        if learning_rate < 0.0:
            raise ValueError(f"Invalid learning_rate {learning_rate}.")
        rate: Tensor | Variable = get_variable(
            "learning_rate", [], dtypes.float32, Constant(float(learning_rate)), trainable=False
        )
    else:
        rate = convert_to_tensor(learning_rate)
        if rate.shape.ndims != 0:
            raise ValueError(f"Learning rate should be 0d Tensor or float. Got {learning_rate} of type {type(learning_rate)}")
    if decay is not None:
        if global_step is None:
            raise ValueError("global_step is required for learning_rate_decay_fn.")
        rate = decay(rate, global_step)
        if "learning_rate" in wanted:
            scalar("learning_rate", rate)
    return rate


def _optimizer(optimizer: object, rate: TensorLike) -> Optimizer:
    if isinstance(optimizer, Optimizer):
        return optimizer
    if isinstance(optimizer, str):
        if optimizer not in OPTIMIZER_CLS_NAMES:
            raise ValueError(f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you provided {optimizer}.")
        optimizer = OPTIMIZER_CLS_NAMES[optimizer]
        if rate is None:
            raise ValueError(f"Learning rate is None, but should be specified for {optimizer}.")
    if not callable(optimizer):
        raise ValueError(f"Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of Optimizer "
                         f"or function with one argument. Got {optimizer}.")  # fmt: skip
    made = optimizer(learning_rate=rate) if isinstance(optimizer, type) else optimizer() if rate is None else optimizer(rate)
    if not isinstance(made, Optimizer):
        raise ValueError(f"Unrecognized optimizer: function should return subclass of Optimizer. Got {made}.")
    return made


def _changed(pairs: Any, noise: float | None, multipliers: Any) -> Any:
    if noise is not None:
        pairs = [(_noisy(gradient, noise), variable) for gradient, variable in pairs]
    return pairs if multipliers is None else _multiplied(pairs, multipliers)


def _clipped(pairs: Any, clip: Any) -> Any:
    if isinstance(clip, float):
        clipped, _ = clip_by_global_norm([gradient for gradient, _ in pairs], clip)
        return list(zip(clipped, [variable for _, variable in pairs], strict=True))
    if callable(clip):
        return clip(pairs)
    if clip is not None:
        raise ValueError(f"Unknown type {type(clip)} for clip_gradients")
    return pairs


def _summarize(pairs: Any, wanted: Sequence[str]) -> None:
    for gradient, variable in pairs:
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        name = variable.name.replace(":", "_")
        if values is not None and "gradients" in wanted:
            histogram(f"gradients/{name}", values)
        if values is not None and "gradient_norm" in wanted:
            scalar(f"gradient_norm/{name}", global_norm([values]))


def _noisy(gradient: Tensor | IndexedSlices, scale: float) -> Any:
    if gradient is None:
        return None
    sizes = gradient.dense_shape if isinstance(gradient, IndexedSlices) else shape(gradient)
    return add(convert_to_tensor(gradient), mul(truncated_normal(sizes), scale))


def _multiplied(pairs: Any, multipliers: Mapping[Any, object]) -> Any:
    result = []
    for gradient, variable in pairs:
        factor = next((multipliers[key] for key in (variable, variable.name, variable.op.name) if key in multipliers), None)
        if gradient is not None and factor is not None:
            factor = cast(convert_to_tensor(factor), gradient.dtype.base_dtype)
            if isinstance(gradient, IndexedSlices):
                gradient = IndexedSlices(mul(gradient.values, factor), gradient.indices, gradient.dense_shape)
            else:
                gradient = mul(gradient, factor)
        result.append((gradient, variable))
    return result
