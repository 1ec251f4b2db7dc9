"""Policies of types: which type layers compute in, and which their variables have."""

from __future__ import annotations

import re
from typing import Final

from weft.framework.types import dtypes
from weft.training.loss_scaling.loss_scale import LossScale, loss_scale_of

_DEFAULT: Final = "USE_DEFAULT"
_WIDER: Final = re.compile(r"^(mixed_)?(.+?)(_with_float32_vars)?$")


class Policy:
    """Which type layers compute in, and which their variables have, by a name.

    Names are that of a type, `TYPE_with_float32_vars`, `mixed_float16` and `mixed_bfloat16` (computed in that type, variables
    of float32), "infer" and "infer_with_float32_vars" (computed in the type of the first inputs).

    Args:
        name: the name.
        loss_scale: a LossScale, a number, "dynamic", or None; "mixed_float16" has a dynamic one unless told otherwise.

    Raises:
        TypeError: the name is no string.
        ValueError: nobody knows the name.
    """

    def __init__(self, name: str, loss_scale: LossScale | float | str | None = _DEFAULT) -> None:
        self._name = name
        self._compute, self._variable = _types_of(name)
        if loss_scale == _DEFAULT:
            loss_scale = "dynamic" if name == "mixed_float16" else None
        self._loss_scale = None if loss_scale is None else loss_scale_of(loss_scale)

    def __repr__(self) -> str:
        return f'<Policy "{self._name}", loss_scale={self._loss_scale}>'

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @property
    def compute_dtype(self) -> str | None:
        """The type that layers compute in; None for that of their first inputs."""
        return self._compute

    @property
    def variable_dtype(self) -> str | None:
        """The type of layers' variables; None for that of their first inputs."""
        return self._variable

    @property
    def should_cast_variables(self) -> bool:
        """Whether variables are of another type than layers compute in."""
        return self._variable != self._compute

    @property
    def loss_scale(self) -> LossScale | None:
        """By what losses are multiplied, if by anything."""
        return self._loss_scale


def _types_of(name: str) -> tuple[str | None, str | None]:
    if not isinstance(name, str):
        raise TypeError(f"'name' must be a string, but got: {name!r}")
    match = _WIDER.match(name)
    if match is not None and not (match[1] and match[3]):
        is_mixed, kind, is_wider = match.groups()
        variable = "float32" if is_mixed or is_wider else None
        if kind == "infer" and not is_mixed:
            return None, variable
        try:
            compute = dtypes.as_dtype(kind).name
        except TypeError:
            compute = ""
        if compute and (not is_mixed or compute in ("float16", "bfloat16")):
            return compute, variable or compute
    raise ValueError(
        f"Cannot convert value {name} to a mixed precision Policy. Valid policies include include those in the form "
        '"<dtype>" and "<dtype>_with_float32_vars", where <dtype> is the name of a dtype.'
    )


_GLOBAL: Final = Policy("infer")


def global_policy() -> Policy:
    """The policy of layers that are told no type: "infer"."""
    return _GLOBAL


def set_policy(policy: Policy | str | None) -> None:
    """Set the policy of layers that are told no type, which stays "infer" where graphs are built.

    Args:
        policy: a policy or its name; None for the usual one.

    Raises:
        ValueError: it is another policy than "infer", or nobody knows its name.
    """
    wanted = _GLOBAL if policy is None else policy if isinstance(policy, Policy) else Policy(policy)
    if wanted.name != "infer":
        raise ValueError(
            "The global policy can only be set to a non-infer policy in TensorFlow 2. Tell layers their type, such as "
            "Dense(8, dtype='float16'), and let tf.keras.mixed_precision.experimental.LossScaleOptimizer scale the loss."
        )


def type_of_layer(policy: Policy) -> str | None:
    """The type of a layer that is told this policy.

    Args:
        policy: the policy.

    Raises:
        NotImplementedError: its variables are of another type than the layer computes in.
    """
    if policy.should_cast_variables:
        raise NotImplementedError(
            f"A layer with the policy {policy.name!r} would keep variables of {policy.variable_dtype} and compute in "
            f"{policy.compute_dtype or 'the type of its inputs'}, which weft's layers do not. dtype='float16' makes both "
            "float16; tf.cast in `call` computes in another type than that of the variables."
        )
    return policy.compute_dtype
