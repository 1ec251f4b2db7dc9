"""Calling the program's functions: each gets those of the arguments that it takes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Final

from weft.estimators.aliases import Features, InputFn, Labels, ModelFn, Params
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.mode_keys import ModeKeys
from weft.estimators.run_config import RunConfig
from weft.framework.building.aliases import Nest
from weft.framework.building.graph_functions import device
from weft.framework.compat.function_signatures import fn_args, get_func_name
from weft.platform.logs import tf_logging
from weft.platform.waits.function_wait import call_watched
from weft.strategies.input.iterators import InputContext

_NO_LABELS: Final = (
    "labels is None: input_fn returns features alone. To train and to evaluate it returns (features, labels), or a Dataset of "
    "such pairs."
)
_MODEL_FN_ARGS: Final = frozenset(("features", "labels", "mode", "params", "self", "config"))


def verify_model_fn_args(model_fn: ModelFn, params: Params) -> None:
    """Check which arguments a model function takes.

    Raises:
        ValueError: it takes no features, no params although there are some, or arguments that it will not get.
    """
    taken = set(fn_args(model_fn))
    if "features" not in taken:
        raise ValueError(
            f"model_fn ({model_fn}) must include features argument. It has {fn_args(model_fn)}; an Estimator passes its "
            "arguments by name: features, labels, mode, params and config."
        )
    if params is not None and "params" not in taken:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is passed to Estimator."
        )
    if params is None and "params" in taken:
        tf_logging.warning(
            "Estimator's model_fn (%s) includes params argument, but params are not passed to Estimator.", model_fn
        )
    others = sorted(taken - _MODEL_FN_ARGS)
    if others:
        raise ValueError(
            f"model_fn ({model_fn}) has following not expected args: {others}. It takes features, labels, mode, params "
            "and config: further values are items of params, Estimator(model_fn, params={...})."
        )


def call_input_fn(
    input_fn: InputFn, mode: str, params: Params, config: RunConfig, input_context: InputContext | None = None
) -> Nest:
    """Build the input, on the CPU of the task that it is built in; a strategy tells the function its place by a context."""
    taken = fn_args(input_fn)
    offered = {"mode": mode, "params": params, "config": config}
    if input_context is not None:
        offered["input_context"] = input_context
    _check_input_fn(input_fn, offered)
    with device("/cpu:0"):
        return call_watched(input_fn, **{name: value for name, value in offered.items() if name in taken})


def _check_input_fn(input_fn: InputFn, offered: Mapping[str, object]) -> None:
    """TypeError for a function that needs arguments that nobody gives."""
    try:
        needed = [
            each.name
            for each in inspect.signature(input_fn).parameters.values()
            if each.default is each.empty and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
        ]
    except (TypeError, ValueError):
        return
    more = [name for name in needed if name not in offered]
    if more:
        name = get_func_name(input_fn)
        raise TypeError(
            f"{name}() missing {len(more)} required positional argument{'s' if len(more) > 1 else ''}: "
            f"{', '.join(map(repr, more))}: an estimator calls its input_fn without arguments of your own. Give it as "
            f"lambda: {name}({', '.join(more)})."
        )


def call_model_fn(
    model_fn: ModelFn, features: Features, labels: Labels, mode: str, params: Params, config: RunConfig
) -> EstimatorSpec:
    """Build the model.

    Raises:
        ValueError: the input has labels that the function does not take, or it returns no EstimatorSpec.
    """
    taken = fn_args(model_fn)
    if "labels" not in taken and labels is not None:
        raise ValueError("model_fn does not take labels, but input_fn returns labels.")
    offered = {"labels": labels, "mode": mode, "params": params, "config": config}
    tf_logging.info("Calling model_fn.")
    try:
        spec = model_fn(features=features, **{name: value for name, value in offered.items() if name in taken})
    except (AttributeError, TypeError, ValueError) as error:
        if labels is None and "labels" in taken and mode != ModeKeys.PREDICT and "None" in str(error):
            error.add_note(_NO_LABELS)
        raise
    tf_logging.info("Done calling model_fn.")
    if not isinstance(spec, EstimatorSpec):
        lacking = (
            ": is its `return` lacking?"
            if spec is None
            else ", such as tf.estimator.EstimatorSpec(mode, loss=..., train_op=...)"
        )
        raise ValueError(f"model_fn should return an EstimatorSpec. {get_func_name(model_fn)} returned {spec!r:.120}{lacking}")
    if spec.mode != mode:
        raise ValueError(
            f"model_fn was called in mode {mode!r}, and {get_func_name(model_fn)} returned an EstimatorSpec of mode "
            f"{spec.mode!r}: pass it on, tf.estimator.EstimatorSpec(mode, ...). Modes are 'train', 'eval' and 'infer', as "
            "tf.estimator.ModeKeys names them."
        )
    return spec
