"""The random ops that are functions of their seed; the others are in test_random.py."""

from __future__ import annotations

import numpy as np
from scipy import stats

from weft.framework.types import dtypes
from weft.testing.op_checks import Case

SEED = np.array([12, 99], np.int64)
LOGITS = np.log(np.array([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]], np.float32))
MATRIX = np.array([[2.0, 1.0], [-1.0, 3.0], [0.5, 0.25]], np.float32)


def _orthogonal(matrix):
    q, r = np.linalg.qr(matrix)
    return q * np.where(np.diagonal(r) < 0, -1, 1)


def _gamma_derivative(alpha, sample):
    # At a fixed quantile, so by the rule of implicit differentiation.
    step = 1e-5
    quantile = stats.gamma.cdf(sample, alpha)
    return (stats.gamma.ppf(quantile, alpha + step) - stats.gamma.ppf(quantile, alpha - step)) / (2 * step)


KEY, COUNTER = np.array([4551124392215935721], np.uint64), np.array([0, 13892792660983712975], np.uint64)
KEYED = [KEY, COUNTER, 1]

# What TensorFlow's kernels give for this seed.
CASES = [
    Case(
        "StatelessRandomGetKeyCounter", [np.array([3, 5], np.int64)], sweep=False, expected=lambda *_: (KEY, COUNTER)
    ),
    Case(
        "StatelessRandomGetKeyCounterAlg", [np.array([3, 5], np.int64)], sweep=False, expected=lambda *_: (KEY, COUNTER, 1)
    ),
    Case(
        "StatelessRandomUniformV2", [[3], *KEYED], {"dtype": dtypes.float32}, sweep=False,
        expected=lambda *_: np.array([0.30866754, 0.09597003, 0.3703704], np.float32),
    ),
    Case("StatelessRandomNormalV2", [[3], *KEYED], {"dtype": dtypes.float32}, sweep=False),
    Case(
        "StatelessTruncatedNormalV2", [[3], *KEYED], {"dtype": dtypes.float32}, sweep=False,
        expected=lambda *_: np.array([0.86955065, 1.2628788, 0.8731732], np.float32),
    ),
    Case(
        "StatelessRandomUniformIntV2", [[3], *KEYED, 0, 100], {"dtype": dtypes.int32}, sweep=False,
        expected=lambda *_: np.array([87, 95, 28]),
    ),
    Case("StatelessRandomUniformFullIntV2", [[3], *KEYED], {"dtype": dtypes.uint64}, sweep=False),
    Case(
        "StatelessRandomUniform", [[1, 3], SEED], {"dtype": dtypes.float32}, sweep=False,
        expected=lambda *_: np.array([[0.18403268, 0.18694127, 0.99725366]], np.float32),
    ),
    Case(
        "StatelessRandomUniform", [[1, 3], SEED], {"dtype": dtypes.float64}, sweep=False, variant="double",
        expected=lambda *_: np.array([[0.47226175, 0.97802929, 0.75452773]]), tolerance=1e-7,
    ),
    Case(
        "StatelessRandomNormal", [[3], SEED], {"dtype": dtypes.float32}, sweep=False,
        expected=lambda *_: np.array([1.69737673, 0.71006781, -0.07075445], np.float32),
    ),
    Case(
        "StatelessTruncatedNormal", [[3], SEED], {"dtype": dtypes.float64}, sweep=False,
        expected=lambda *_: np.array([-0.16855961, 1.21327303, 1.6474083]), tolerance=1e-7,
    ),
    Case("StatelessTruncatedNormal", [[2000], SEED], {"dtype": dtypes.float32}, sweep=False, variant="many"),
    Case(
        "StatelessRandomUniformInt", [[3], SEED, -5, 100], {"dtype": dtypes.int32}, sweep=False,
        expected=lambda *_: np.array([34, 83, 75]),
    ),
    Case(
        "StatelessRandomUniformFullInt", [[3], SEED], {"dtype": dtypes.int32}, sweep=False,
        expected=lambda *_: np.array([-375943582, 1444408753, -469785086]),
    ),
    Case(
        "StatelessRandomUniformFullInt", [[2], SEED], {"dtype": dtypes.uint64}, sweep=False, variant="long",
        expected=lambda *_: np.array([6203688360110165602, 821400520521393666], np.uint64),
    ),
    Case(
        "StatelessMultinomial", [LOGITS, 3, SEED], sweep=False, expected=lambda *_: np.array([[2, 2, 2], [1, 2, 0]])
    ),
    Case("OrthogonalBasis", [MATRIX], expected=_orthogonal),
    Case(
        "RandomGammaGrad", [np.float64([1.0, 2.5]), np.float64([0.7, 1.3])], tolerance=1e-5,
        expected=lambda alpha, sample: _gamma_derivative(alpha, sample),
    ),
]  # fmt: skip
