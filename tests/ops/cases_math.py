"""Cases of elementwise arithmetic, comparisons, casts, reductions, scans and ranges."""

from __future__ import annotations

import numpy as np
from scipy import special

from weft.framework.types import dtypes
from weft.testing.op_checks import Case

_COLORS = np.arange(36, dtype=np.float32).reshape(4, 3, 3)
A = np.array([[0.5, -1.25, 2.0], [-0.75, 1.5, -3.0]], np.float32)
B = np.array([[1.5, 0.25, -2.5], [2.25, -0.5, 1.0]], np.float32)
POSITIVE = np.array([[0.5, 1.25, 2.0], [0.75, 1.5, 3.0]], np.float32)
ROW = np.array([1.5, -0.25, 2.5], np.float32)
COLUMN = np.array([[1.5], [-2.5]], np.float32)
NOT_WHOLE = np.array([[0.5, -1.3, 2.3], [-0.75, 1.4, -3.6]], np.float32)
FAR_FROM_ZERO = np.array([[1.5, 2.25, -2.5], [2.25, -1.5, 1.0]], np.float32)
UNIT = np.array([[0.5, -0.25, 0.1], [-0.75, 0.6, -0.9]], np.float32)
INTS = np.array([[5, -7, 3], [-6, 9, 2]], np.int32)
DIVISORS = np.array([[2, 2, -4], [-4, -5, 7]], np.int32)
SMALL = np.array([[1, 2, 3], [0, 2, 1]], np.int32)
BOOLS = np.array([True, True, False, False])
OTHER_BOOLS = np.array([True, False, True, False])
Z = np.array([1 + 2j, -0.5 + 0.25j, 3 - 1j], np.complex64)
W = np.array([0.5 - 1j, 2 + 1j, -1 + 0.75j], np.complex64)
SPECIAL = np.array([1.0, np.inf, -np.inf, np.nan, 0.0], np.float32)


def _binary(op, function, x=A, y=B, complex_too=True, broadcasts=True, **kw):
    cases = [Case(op, [x, y], expected=function, **kw)]
    kw.pop("sweep", None)
    if broadcasts:
        cases.append(Case(op, [x, y[:1]], expected=function, variant="row", sweep=False, **kw))
        cases.append(Case(op, [x[:, :1], y[0]], expected=function, variant="outer", sweep=False, **kw))
        cases.append(Case(op, [x[0, 0], y], expected=function, variant="scalar", sweep=False, **kw))
    if complex_too:
        cases.append(Case(op, [Z, W], expected=function, variant="complex", sweep=False, **kw))
    return cases


def _unary(op, function, x=A, complex_too=True, **kw):
    cases = [Case(op, [x], expected=function, **kw)]
    kw.pop("sweep", None)
    if complex_too:
        cases.append(Case(op, [Z], expected=function, variant="complex", sweep=False, **kw))
    return cases


def _reduction(op, function, x=A, **kw):
    cube = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 7 - 1.3
    return [
        Case(op, [x, 1], expected=lambda x, a: function(x, axis=1), **kw),
        Case(op, [x, [0, 1]], expected=lambda x, a: function(x, axis=(0, 1)), variant="all", sweep=False, **kw),
        Case(op, [x, np.zeros(0, np.int32)], expected=lambda x, a: function(x, axis=()), variant="none", sweep=False, **kw),
        Case(
            op,
            [cube, np.array([-1, 0], np.int64)],
            {"keep_dims": True},
            variant="kept",
            sweep=False,
            expected=lambda x, a: function(x, axis=(0, 2), keepdims=True),
            **kw,
        ),
    ]


def _logical_reduction(op, function):
    x = np.stack([BOOLS, OTHER_BOOLS])
    return [
        Case(op, [x, 0], expected=lambda x, a: function(x, axis=0)),
        Case(op, [x, [1]], {"keep_dims": True}, expected=lambda x, a: function(x, axis=1, keepdims=True), variant="kept"),
    ]


def _divide_truncated(x, y):
    return np.trunc(x / y).astype(x.dtype)


def _exclusive(x, function, first, axis):
    start = np.full_like(np.take(x, [0], axis), first)
    return function(np.concatenate([start, np.delete(x, -1, axis)], axis), axis)


def _xlogy(x, y):
    return special.xlogy(x, y)


ARITHMETIC = [
    *_binary("Add", np.add),
    *_binary("AddV2", np.add),
    Case("Add", [np.array([b"a", b"bc"], object), np.array([b"x", b"y"], object)], expected=np.add, variant="strings",
         sweep=False),
    *_binary("Sub", np.subtract),
    *_binary("Mul", np.multiply),
    *_binary("RealDiv", np.divide, y=FAR_FROM_ZERO),
    *_binary("SquaredDifference", lambda x, y: np.abs(x - y) ** 2, complex_too=False),
    # The rule is TensorFlow's, which holds for real gradients only.
    Case("SquaredDifference", [Z, W], expected=lambda x, y: np.abs(x - y) ** 2, variant="complex", sweep=False,
         gradient=False),
    *_unary("Neg", np.negative),
    *_unary("Square", np.square),
    *_unary("Reciprocal", np.reciprocal, x=B, sweep=False),
    *_unary("Inv", np.reciprocal, x=B, sweep=False),
    *_binary("ReciprocalGrad", lambda y, dy: -dy * np.conj(y) ** 2, broadcasts=False),
    Case("Conj", [Z], expected=np.conj),
    Case("AddN", [[A, B, A]], expected=lambda xs: xs[0] + xs[1] + xs[2]),
    Case("AccumulateNV2", [[A, B]], {"shape": (2, 3)}, expected=lambda xs: xs[0] + xs[1]),
    Case("SumToLike", [A, ROW], expected=lambda x, like: x.sum(0)),
    Case("SumToLike", [A, COLUMN], expected=lambda x, like: x.sum(1, keepdims=True), variant="column"),
    Case("BroadcastLike", [ROW, A], expected=lambda x, like: np.broadcast_to(x, (2, 3))),
]  # fmt: skip

DIVISION = [
    *_binary("Div", np.divide, sweep=False),
    Case("Div", [INTS, DIVISORS], expected=_divide_truncated, variant="ints"),
    Case("TruncateDiv", [INTS, DIVISORS], expected=_divide_truncated),
    Case("FloorDiv", [INTS, DIVISORS], expected=np.floor_divide),
    Case("FloorDiv", [A, B], expected=np.floor_divide, variant="floats", sweep=False, gradient=False),
    Case("FloorMod", [INTS, DIVISORS], expected=np.mod),
    Case("FloorMod", [NOT_WHOLE, B], expected=np.mod, variant="floats", sweep=False),
    Case("TruncateMod", [INTS, DIVISORS], expected=np.fmod),
    Case("TruncateMod", [NOT_WHOLE, B], expected=np.fmod, variant="floats", sweep=False),
    Case("Mod", [INTS, DIVISORS], expected=np.fmod),
    Case("Mod", [NOT_WHOLE, B], expected=np.fmod, variant="floats", sweep=False),
    *_binary("Pow", np.power, x=POSITIVE, sweep=False),
    Case("Pow", [np.abs(INTS), SMALL], expected=np.power, variant="ints"),
    *_binary("DivNoNan", np.divide),
    Case("DivNoNan", [A, np.float32(0)], expected=lambda x, y: np.zeros_like(x), variant="zero", sweep=False,
         gradient=False),
    *_binary("MulNoNan", np.multiply),
    Case("MulNoNan", [SPECIAL, np.float32(0)], expected=lambda x, y: np.zeros_like(x), variant="zero", sweep=False,
         gradient=False),
    *_binary("Xlogy", lambda x, y: x * np.log(y), y=POSITIVE),
    Case("Xlogy", [np.float32(0), np.array([0, 1], np.float32)], expected=_xlogy, variant="zero", sweep=False,
         gradient=False),
    *_binary("Xdivy", np.divide),
    Case("Xdivy", [np.float32(0), np.array([0, 1], np.float32)], expected=_xlogy, variant="zero", sweep=False,
         gradient=False),
]  # fmt: skip

UNARY = [
    *_unary("Exp", np.exp),
    *_unary("Expm1", np.expm1),
    *_unary("Log", np.log, x=POSITIVE),
    *_unary("Log1p", np.log1p, x=POSITIVE),
    *_unary("Sqrt", np.sqrt, x=POSITIVE),
    *_unary("Rsqrt", lambda x: 1 / np.sqrt(x), x=POSITIVE),
    *_unary("Sigmoid", lambda x: 1 / (1 + np.exp(-x))),
    Case("Sigmoid", [np.array([-1000, 1000], np.float32)], expected=special.expit, variant="ends", sweep=False),
    *_unary("Tanh", np.tanh),
    *_binary("SqrtGrad", lambda y, dy: dy * 0.5 / np.conj(y), broadcasts=False),
    *_binary("RsqrtGrad", lambda y, dy: dy * -0.5 * np.conj(y) ** 3, broadcasts=False),
    *_binary("SigmoidGrad", lambda y, dy: dy * y * (1 - y), broadcasts=False),
    *_binary("TanhGrad", lambda y, dy: dy * (1 - y * y), broadcasts=False),
    *_unary("Floor", np.floor, x=NOT_WHOLE, complex_too=False),
    *_unary("Ceil", np.ceil, x=NOT_WHOLE, complex_too=False),
    Case("Rint", [np.array([-1.5, -0.5, 0.5, 1.5, 2.25], np.float32)], expected=np.rint, gradient=False),
    Case("Round", [np.array([-1.5, -0.5, 0.5, 1.5, 2.25], np.float32)], expected=np.rint, gradient=False),
    Case("Round", [INTS], expected=lambda x: x, variant="ints", sweep=False),
    *[Case(op, [SPECIAL], expected=f) for op, f in (
        ("IsNan", np.isnan), ("IsInf", np.isinf), ("IsFinite", np.isfinite))],
]  # fmt: skip

COMPLEX_NUMBERS = [
    Case("Complex", [A, B], expected=lambda x, y: x + 1j * y, sweep=False),
    Case("Complex", [A, ROW], expected=lambda x, y: x + 1j * y, variant="row", sweep=False),
    Case("Real", [Z], expected=np.real, sweep=False),
    Case("Imag", [Z], expected=np.imag, sweep=False),
    Case("Angle", [Z], expected=np.angle, sweep=False),
    Case("ComplexAbs", [Z], expected=np.abs, sweep=False),
    Case("Abs", [A], expected=np.abs),
    Case("Sign", [A], expected=np.sign),
    Case("Sign", [np.array([0, 3 + 4j], np.complex64)], expected=lambda z: np.array([0, 0.6 + 0.8j]), variant="complex",
         sweep=False, gradient=False),
]  # fmt: skip

COMPARISONS = [
    *[Case(op, [SMALL, SMALL[:, ::-1]], expected=function) for op, function in (
        ("Less", np.less), ("LessEqual", np.less_equal), ("Greater", np.greater), ("GreaterEqual", np.greater_equal),
        ("Equal", np.equal), ("NotEqual", np.not_equal))],
    Case("Equal", [np.array([b"a", b"b"], object), np.array([b"a", b"c"], object)], expected=np.equal, variant="strings"),
    Case("NotEqual", [np.array([b"a", b"b"], object), np.array([b"a", b"c"], object)], expected=np.not_equal,
         variant="strings"),
    Case("Equal", [Z, W], expected=np.equal, variant="complex"),
    Case("Equal", [A, ROW[:2]], {"incompatible_shape_error": False}, expected=lambda x, y: False, variant="unfit"),
    Case("NotEqual", [A, ROW[:2]], {"incompatible_shape_error": False}, expected=lambda x, y: True, variant="unfit"),
    Case("ApproximateEqual", [A, A + np.float32(0.01)], {"tolerance": 0.1}, expected=lambda x, y: np.abs(x - y) < 0.1),
    *_binary("Maximum", np.maximum, complex_too=False),
    *_binary("Minimum", np.minimum, complex_too=False),
    *[Case(op, [BOOLS, OTHER_BOOLS], expected=f) for op, f in (
        ("LogicalAnd", np.logical_and), ("LogicalOr", np.logical_or))],
    Case("LogicalNot", [BOOLS], expected=np.logical_not),
    *[Case(op, [INTS, SMALL], expected=f) for op, f in (
        ("BitwiseAnd", np.bitwise_and), ("BitwiseOr", np.bitwise_or), ("BitwiseXor", np.bitwise_xor),
        ("LeftShift", np.left_shift), ("RightShift", np.right_shift))],
    Case("LeftShift", [SMALL, SMALL * 100], variant="far"),
    Case("Invert", [INTS], expected=np.invert),
    Case("PopulationCount", [SMALL], expected=np.bitwise_count),
    Case("PopulationCount", [INTS], expected=lambda x: np.bitwise_count(x.view(np.uint32)), variant="negative",
         sweep=False),
]  # fmt: skip

CASTS = [
    Case("Cast", [A], {"DstT": dtypes.float64}, expected=lambda x: x.astype(np.float64)),
    Case("Cast", [A], {"DstT": dtypes.int32}, expected=lambda x: x.astype(np.int32), variant="int"),
    Case("Cast", [A], {"DstT": dtypes.bool}, expected=lambda x: x.astype(bool), variant="bool"),
    Case("Cast", [BOOLS], {"DstT": dtypes.float32}, expected=lambda x: x.astype(np.float32), variant="from-bool"),
    Case("Cast", [Z], {"DstT": dtypes.float32}, expected=np.real, variant="from-complex", gradient=False),
    Case("Cast", [A], {"DstT": dtypes.complex64}, expected=lambda x: x.astype(np.complex64), variant="complex"),
    Case("Cast", [INTS * 100], {"DstT": dtypes.uint8}, expected=lambda x: x.astype(np.uint8), variant="wrap"),
    Case("Cast", [np.array([300.0, -5.0, np.nan, 1e20], np.float32)], {"DstT": dtypes.uint8}, variant="outside",
         expected=lambda x: np.array([255, 0, 0, 255])),
    Case("Cast", [np.array([3e9, -3e9, np.inf], np.float64)], {"DstT": dtypes.int32}, variant="outside-32",
         expected=lambda x: np.array([2**31 - 1, -(2**31), 2**31 - 1])),
    Case("Bitcast", [A], {"type": dtypes.int32}, expected=lambda x: x.view(np.int32), sweep=False),
    Case("Bitcast", [A], {"type": dtypes.uint8}, expected=lambda x: x.view(np.uint8).reshape(2, 3, 4), variant="narrow",
         sweep=False),
    Case("Bitcast", [np.arange(8, dtype=np.uint8).reshape(2, 4)], {"type": dtypes.int32}, variant="wide", sweep=False,
         expected=lambda x: x.view(np.int32).reshape(2)),
]  # fmt: skip

REDUCTIONS = [
    *_reduction("Sum", np.sum),
    *_reduction("Mean", np.mean),
    Case("Sum", [_COLORS, [0, 1]], expected=lambda x, a: x.sum((0, 1)), variant="of colors", sweep=False),
    Case("Mean", [_COLORS[:, ::-1], [-2, 0]], {"keep_dims": True}, expected=lambda x, a: x.mean((0, 1), keepdims=True),
         variant="of colors", sweep=False),
    Case("Sum", [_COLORS.astype(np.int32) << 25, [1, 0]], expected=lambda x, a: x.sum((0, 1), dtype=np.int32),
         variant="wraps around", sweep=False),
    Case("Mean", [np.array([[7, -7, -8]], np.int32), 1], expected=lambda x, a: np.array([-2]), variant="ints"),
    *_reduction("Max", np.max),
    *_reduction("Min", np.min),
    *_reduction("Prod", np.prod),
    Case("Sum", [Z, 0], expected=lambda x, a: x.sum(), variant="complex", sweep=False),
    Case("Mean", [Z, 0], expected=lambda x, a: x.mean(), variant="complex", sweep=False),
    Case("Prod", [Z, 0], expected=lambda x, a: x.prod(), variant="complex", sweep=False),
    Case("Prod", [np.array([[2, 0, 3], [0, 4, 0]], np.float32), 1], variant="zeros", sweep=False,
         expected=lambda x, a: x.prod(1)),
    Case("Max", [np.zeros((2, 0), np.float32), 1], expected=lambda x, a: np.full(2, -np.inf), variant="empty",
         sweep=False),
    Case("Min", [np.zeros((2, 0), np.int32), 1], expected=lambda x, a: np.full(2, 2**31 - 1), variant="empty",
         sweep=False),
    *[Case("EuclideanNorm", [A, axis], expected=lambda x, a: np.sqrt((x * x).sum(int(a))), variant=str(axis), sweep=False)
      for axis in (0, 1)],
    *_logical_reduction("All", np.all),
    *_logical_reduction("Any", np.any),
    Case("ArgMax", [A, 1], expected=lambda x, a: x.argmax(1)),
    Case("ArgMax", [A, -2], {"output_type": dtypes.int32}, expected=lambda x, a: x.argmax(0), variant="int32"),
    Case("ArgMin", [A, 1], expected=lambda x, a: x.argmin(1)),
    Case("ExpandReduced", [ROW, A, 0], expected=lambda r, x, a: np.broadcast_to(r, (2, 3))),
    Case("ReducedCount", [A, 0], {"dtype": dtypes.float32}, expected=lambda x, a: np.float32(2)),
    Case("ProductsOfOthers", [A, 1], variant="row", sweep=False,
         expected=lambda x, a: np.stack([x[:, 1] * x[:, 2], x[:, 0] * x[:, 2], x[:, 0] * x[:, 1]], 1)),
]  # fmt: skip

SCANS = [
    Case("Cumsum", [A, 1], expected=lambda x, a: x.cumsum(1)),
    Case("Cumsum", [A, 0], {"reverse": True}, expected=lambda x, a: x[::-1].cumsum(0)[::-1], variant="reverse",
         sweep=False),
    Case("Cumsum", [A, -1], {"exclusive": True}, expected=lambda x, a: _exclusive(x, np.cumsum, 0, 1),
         variant="exclusive", sweep=False),
    Case("Cumprod", [A, 1], expected=lambda x, a: x.cumprod(1)),
    Case("Cumprod", [A, 1], {"exclusive": True, "reverse": True}, variant="both", sweep=False,
         expected=lambda x, a: _exclusive(x[:, ::-1], np.cumprod, 1, 1)[:, ::-1]),
    Case("CumulativeLogsumexp", [A, 1], expected=lambda x, a: np.log(np.exp(x).cumsum(1)), sweep=False),
]  # fmt: skip

RANGES = [
    Case("Range", [2, 11, 3], expected=np.arange, sweep=False),
    Case("Range", [5, -5, -3], expected=np.arange, variant="down", sweep=False),
    Case("Range", [0.5, 2.0, 0.25], expected=lambda a, b, c: np.arange(a, b, c), variant="floats", sweep=False),
    Case("LinSpace", [np.float32(1), np.float32(2), 5], expected=lambda a, b, n: np.linspace(1, 2, 5), gradient=False),
    Case("LinSpace", [np.float32(1), np.float32(2), 1], expected=lambda a, b, n: np.ones(1), variant="one", sweep=False),
]  # fmt: skip

OTHERS = [
    Case("Const", attrs={"value": A, "dtype": dtypes.float32}, expected=lambda: A),
    Case("Xlog1py", [A, POSITIVE], expected=special.xlog1py),
    Case("Xlog1py", [Z, W], expected=lambda x, y: x * np.log1p(y), variant="complex", sweep=False),
]  # fmt: skip

CASES = [
    *OTHERS,
    *ARITHMETIC, *DIVISION, *UNARY, *COMPLEX_NUMBERS, *COMPARISONS, *CASTS, *REDUCTIONS, *SCANS, *RANGES,
]  # fmt: skip

WITHOUT_CASE = {
    "KernelGradient": "it is the gradient of every op declared with `vjp`, whose cases check it",
}

OWN_OPS = {
    "KernelGradient": "JAX's derivative of an op's kernel as a node",
    "SumToLike": "the gradient of broadcasting, in one node for shapes that are not known",
    "BroadcastLike": "the gradient of SumToLike",
    "ExpandReduced": "the gradient of reductions, in one node for shapes that are not known",
    "ReducedCount": "how many elements a mean is of, when the shape is not known",
    "ProductsOfOthers": "the gradient of Prod, which no division by zero may spoil",
}
