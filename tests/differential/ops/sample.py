"""A sample of the cases, with TensorFlow's answers in files: the tests compare with it where no TensorFlow is.

    WEFT_ORACLE_PYTHON=... python -m tests.differential.ops.sample

makes both files anew. Only ops that agree on all cases belong into it.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path
from typing import Final

import numpy as np

from tests.differential.ops import generator, oracle
from tests.differential.ops.archive import Writer
from tests.differential.ops.campaign import shared_ops
from tests.differential.ops.case import record

CASES: Final = Path(__file__).parent / "sample_cases.npz"
ANSWERS: Final = Path(__file__).parent / "sample_answers.npz"
# Each how manieth case of an op is in the sample, of so many mutations.
_EVERY: Final = 4
_COUNT: Final = 12
_OPS: Final = (
    "Abs", "AccumulateNV2", "Acos", "Add", "AddN", "AddV2", "All", "Any", "Atan2", "BatchMatMulV2", "BatchToSpaceND",
    "BiasAddGrad", "Bincount", "BitwiseAnd", "Ceil", "ComplexAbs", "Concat", "ConcatOffset", "ConcatV2", "Cos", "Cross",
    "Diag", "Div", "DivNoNan", "Elu", "EluGrad", "Equal", "Erf", "Exp", "ExpandDims", "FFT", "FIFOQueueV2", "Fill",
    "Floor", "FloorDiv", "FloorMod", "Gather", "Greater", "Identity", "IdentityN", "L2Loss", "Less", "LogicalAnd",
    "MatMul", "MatrixInverse", "MatrixSolve", "LowerBound",
)  # fmt: skip


def write(python: str) -> None:
    """Make the files by asking the TensorFlow of a Python."""
    definitions = oracle.definitions(python)
    shared_ops(definitions)
    seeds = generator.all_seeds(definitions)
    writer = Writer()
    for op in _OPS:
        for case in generator.cases(definitions[op], seeds[op], _COUNT)[::_EVERY]:
            with contextlib.suppress(TypeError, ValueError, KeyError, OverflowError):
                writer.add(record(case, definitions, writer, is_compiled=False))
    with (
        tempfile.TemporaryDirectory() as directory,
        contextlib.closing(oracle.tensorflow(python, Path(directory), 600)) as library,
    ):
        cases = Path(directory) / "cases.npz"
        writer.write(str(cases))
        library.start(cases).result()
        (answers,) = (path for path in Path(directory).iterdir() if path != cases)
        for source, target in ((cases, CASES), (answers, ANSWERS)):
            with np.load(source) as members:
                np.savez_compressed(target, **members)


def main() -> int:
    """Make the files."""
    python = oracle.python_of("2.21")
    if python is None:
        print("WEFT_ORACLE_PYTHON names no Python that has TensorFlow 2.21 (make interop)", file=sys.stderr)
        return 2
    write(python)
    return 0


if __name__ == "__main__":
    sys.exit(main())
