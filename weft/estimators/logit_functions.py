"""Calls of logit functions: the middle of a model, from features to logits."""

from __future__ import annotations

from collections.abc import Callable

from weft.estimators.aliases import Features, Params
from weft.estimators.run_config import RunConfig
from weft.framework.building.aliases import Nest
from weft.framework.compat.function_signatures import fn_args
from weft.framework.nodes.operation import Tensor


def call_logit_fn(
    logit_fn: Callable[..., Nest], features: Features, mode: str, params: Params, config: RunConfig | None
) -> Nest:
    """Call a function from features to logits with those of `mode`, `params` and `config` that it takes.

    Args:
        logit_fn: takes `features`, and perhaps the others.
        features: tensors by name.
        mode: one of ModeKeys.
        params: the model's parameters.
        config: how it is run.

    Returns:
        Logits, or a dict of logits by the names of heads.

    Raises:
        ValueError: the function returns something else.
    """
    taken = fn_args(logit_fn)
    offered = {"mode": mode, "params": params, "config": config}
    logits = logit_fn(features=features, **{name: value for name, value in offered.items() if name in taken})
    is_by_name = isinstance(logits, dict) and all(
        isinstance(key, str) and isinstance(value, Tensor) for key, value in logits.items()
    )
    if not is_by_name and not isinstance(logits, Tensor):
        raise ValueError(
            f"logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  logit_fn returned: {logits}"
        )
    return logits
