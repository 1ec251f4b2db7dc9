"""Seeds of ops that change or read variables: their inputs have the same names everywhere, and these say what suits them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from tensorboard.compat.proto import op_def_pb2, types_pb2

from tests.differential.ops.case import OpCase, Variable
from weft.framework.registry import op_registry
from weft.framework.types import dtypes

_UPDATES = re.compile(
    r"(Resource)?(Sparse)?Apply\w+|(Resource)?Scatter(Nd)?(Add|Sub|Mul|Div|Min|Max|Update)|Assign(Add|Sub)?(VariableOp)?|"
    r"ReadVariableOp|ResourceGather(Nd)?|VariableShape|VarIsInitializedOp|IsVariableInitialized|DisableCopyOnRead|"
    r"(Resource)?CountUpTo|(Resource)?StridedSliceAssign"
)
_SCALARS = {
    "lr": 0.1, "rho": 0.9, "epsilon": 1e-4, "l1": 0.01, "l2": 0.02, "beta1": 0.9, "beta2": 0.99, "beta1_power": 0.81,
    "beta2_power": 0.98, "alpha": 0.1, "delta": 0.1, "momentum": 0.9, "lr_power": -0.5, "l2_shrinkage": 0.05, "logbase": 1.1,
    "sign_decay": 0.9, "beta": 0.9, "global_step": 3,
}  # fmt: skip
_SHAPE = (5, 3)
_INDICES = np.array([3, 0, 3], np.int32)
# Of rows that come repeatedly updates are summed, which is told in the docs (`known.REPEATED`).
_DISTINCT = np.array([3, 0, 2], np.int32)


def seeds(definitions: Mapping[str, op_def_pb2.OpDef]) -> Iterator[OpCase]:
    """A seed for each such op of weft."""
    for own in op_registry.registered():
        if own.name in definitions and _UPDATES.fullmatch(own.name):
            yield _seed(definitions[own.name])


def _is_sparse(name: str) -> bool:
    return "Sparse" in name or "Scatter" in name


def is_sparse_update(name: str) -> bool:
    """Whether the op updates rows by gradients, which names each row once at best."""
    return "SparseApply" in name


def _seed(definition: op_def_pb2.OpDef) -> OpCase:
    random = np.random.RandomState(3)
    name = definition.name
    attrs: dict[str, Any] = {}
    if name in ("CountUpTo", "ResourceCountUpTo"):
        attrs = {"limit": 10, "T": dtypes.int32}
        return OpCase(name, [Variable(np.int32(4))], attrs)
    if name.endswith("StridedSliceAssign"):
        value = random.randn(2, 3).astype(np.float32)
        inputs: list[Any] = [
            Variable(random.randn(*_SHAPE).astype(np.float32)),
            np.array([1]),
            np.array([3]),
            np.array([1]),
            value,
        ]
        return OpCase(name, [each.astype(np.int32) if i in (1, 2, 3) else each for i, each in enumerate(inputs)], {})
    inputs = [_input(arg, name, random) for arg in definition.input_arg]
    names = {attr.name for attr in definition.attr}
    if "dtype" in names:
        attrs["dtype"] = dtypes.float32
    return OpCase(name, inputs, attrs)


def _input(arg: Any, op: str, random: np.random.RandomState) -> Any:
    positive = np.abs(random.randn(*_SHAPE)).astype(np.float32) + 0.5
    if arg.is_ref or arg.type == types_pb2.DT_RESOURCE:
        return Variable(positive)
    if arg.name in _SCALARS and not (arg.name == "delta" and "GradientDescent" in op):
        return np.array(_SCALARS[arg.name], np.int64 if arg.name == "global_step" else np.float32)
    if arg.name == "indices":
        return _INDICES[:, None] if "Nd" in op else _DISTINCT if is_sparse_update(op) else _INDICES
    rows = len(_INDICES) if _is_sparse(op) else _SHAPE[0]
    return random.randn(rows, *_SHAPE[1:]).astype(np.float32)
