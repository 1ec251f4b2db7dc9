"""Cases of trigonometric and special functions."""

from __future__ import annotations

import numpy as np
from scipy import special

from weft.testing.op_checks import Case

UNIT = np.array([[0.5, -0.25, 0.1], [-0.75, 0.6, -0.9]], np.float32)
ANY = np.array([[0.5, -1.25, 2.0], [-0.75, 1.5, -3.0]], np.float32)
POSITIVE = np.array([[0.5, 1.25, 2.0], [0.75, 1.5, 3.0]], np.float32)
OTHER = np.array([[1.5, 0.25, 2.5], [2.25, 0.5, 1.0]], np.float32)
BETWEEN = np.abs(UNIT)
Z = np.array([0.3 + 0.2j, -0.5 + 0.25j, 0.7 - 0.6j], np.complex64)

TRIGONOMETRY = [
    Case(op, [x], expected=function)
    for op, function, x in [
        ("Sin", np.sin, ANY), ("Cos", np.cos, ANY), ("Tan", np.tan, UNIT), ("Asin", np.arcsin, UNIT),
        ("Acos", np.arccos, UNIT), ("Atan", np.arctan, ANY), ("Sinh", np.sinh, ANY), ("Cosh", np.cosh, ANY),
        ("Asinh", np.arcsinh, ANY), ("Acosh", np.arccosh, POSITIVE + 1), ("Atanh", np.arctanh, UNIT),
    ]
]  # fmt: skip
COMPLEX = [
    Case(op, [Z], expected=function, variant="complex", sweep=False)
    for op, function in [
        ("Sin", np.sin), ("Cos", np.cos), ("Tan", np.tan), ("Asin", np.arcsin), ("Acos", np.arccos),
        ("Atan", np.arctan), ("Sinh", np.sinh), ("Cosh", np.cosh), ("Asinh", np.arcsinh), ("Atanh", np.arctanh),
    ]
]  # fmt: skip

ON_THE_HOST = [
    Case(op, [POSITIVE], expected=function)
    for op, function in [
        ("BesselI0", special.i0), ("BesselI1", special.i1), ("BesselJ0", special.j0), ("BesselJ1", special.j1),
        ("BesselK0", special.k0), ("BesselK1", special.k1), ("BesselK0e", special.k0e), ("BesselK1e", special.k1e),
        ("BesselY0", special.y0), ("BesselY1", special.y1), ("Expint", special.expi), ("Dawsn", special.dawsn),
        ("Spence", special.spence), ("FresnelSin", lambda x: special.fresnel(x)[0]),
        ("FresnelCos", lambda x: special.fresnel(x)[1]),
    ]
]  # fmt: skip

SPECIAL = [
    Case("Atan2", [ANY, OTHER], expected=np.arctan2),
    Case("Atan2", [ANY, OTHER[:1]], expected=np.arctan2, variant="row", sweep=False),
    Case("Erf", [ANY], expected=special.erf),
    Case("Erfc", [ANY], expected=special.erfc),
    Case("Erfinv", [UNIT], expected=special.erfinv),
    Case("Ndtri", [BETWEEN], expected=special.ndtri),
    Case("Lgamma", [ANY], expected=lambda x: np.where(x == np.floor(x), np.where(x > 0, special.gammaln(x), np.inf),
                                                     special.gammaln(x)), gradient=False),
    Case("Lgamma", [POSITIVE], expected=special.gammaln, variant="positive", sweep=False),
    Case("Digamma", [POSITIVE], expected=special.digamma, sweep=False),
    Case("Digamma", [ANY], expected=lambda x: np.where((x == np.floor(x)) & (x <= 0), np.inf, special.digamma(x)),
         gradient=False, sweep=False, variant="poles", tolerance=1e-5),
    Case("Polygamma", [np.float32(1), POSITIVE], expected=lambda a, x: special.polygamma(1, x), sweep=False,
         tolerance=1e-4, constant_inputs=(0,)),
    Case("Polygamma", [np.float32(0), POSITIVE], expected=lambda a, x: special.digamma(x), sweep=False, variant="zero",
         gradient=False),
    Case("Zeta", [POSITIVE + 1.5, OTHER], expected=special.zeta, sweep=False, tolerance=1e-4, constant_inputs=(0,)),
    Case("Igamma", [POSITIVE, OTHER], expected=special.gammainc, sweep=False, tolerance=1e-4),
    Case("Igammac", [POSITIVE, OTHER], expected=special.gammaincc, sweep=False, tolerance=1e-4),
    Case("IgammaGradA", [POSITIVE, OTHER], sweep=False, tolerance=1e-4,
         expected=lambda a, x: (special.gammainc(a + 1e-3, x) - special.gammainc(a - 1e-3, x)) / 2e-3),
    Case("Betainc", [POSITIVE, OTHER, BETWEEN], expected=special.betainc, sweep=False, tolerance=1e-4,
         constant_inputs=(0, 1)),
    Case("BesselI0e", [ANY], expected=special.i0e, sweep=False),
    Case("BesselI1e", [ANY], expected=special.i1e, sweep=False),
    Case("NextAfter", [ANY, OTHER], expected=np.nextafter, gradient=False),
]  # fmt: skip

CASES = [*TRIGONOMETRY, *COMPLEX, *SPECIAL, *ON_THE_HOST]
