"""Which cases differ as `known.DIFFERENCES` tells of their ops: by the case, and by what is told of the difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.differential.ops.case import OpCase, arrays_of


def _has_short_constant(case: OpCase, text: str) -> bool:
    return case.form == "constant" and case.values[2].dtype == "int16"


def _assigns_another_shape(case: OpCase, text: str) -> bool:
    variable, value = arrays_of(case)
    return bool(variable.shape != value.shape)


def _is_gradient(case: OpCase, text: str) -> bool:
    return "gradient: " in text


def _is_complex_gradient(case: OpCase, text: str) -> bool:
    return _is_gradient(case, text) and any(each.dtype.kind == "c" for each in arrays_of(case))


def _is_of_unknown_shape(case: OpCase, text: str) -> bool:
    return case.form == "unknown"


def _is_of_another_shape(case: OpCase, text: str) -> bool:
    return "does not match r-value shape" in text and "TensorFlow's InvalidArgumentError" in text


_RULES: Final[dict[str, Callable[[OpCase, str], bool]]] = {
    "ScatterNd": _has_short_constant,
    **dict.fromkeys(("StridedSliceAssign", "ResourceStridedSliceAssign"), _is_of_another_shape),
    "AssignVariableOp": _assigns_another_shape,
    "BlockLSTMV2": _is_gradient,
    **dict.fromkeys(("MatrixDeterminant", "MulNoNan", "Xdivy", "Xlog1py", "Xlogy"), _is_complex_gradient),
    "ExtractVolumePatches": _is_of_unknown_shape,
    **dict.fromkeys(("MatrixDiagV2", "MatrixDiagPartV2"), _is_gradient),
}


def is_meant(case: OpCase, text: str) -> bool:
    """Whether a case differs, in this way, by what `known.DIFFERENCES` tells of its op."""
    rule = _RULES.get(case.op)
    return rule is not None and rule(case, text)
