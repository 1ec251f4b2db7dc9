"""tf.keras.initializers: those of variables, of which three draw from a narrower distribution here."""

from __future__ import annotations

from typing import Final

from weft.framework.building.aliases import DTypeLike, Nest
from weft.framework.types import dtypes
from weft.networks.objects import registry
from weft.ops.variables import initializers as base
from weft.ops.variables import matrix_initializers as matrices


class RandomUniform(base.RandomUniform):
    """Uniform between -0.05 and 0.05, unless told otherwise.

    Args:
        minval, maxval: the bounds.
        seed: the op seed.
        dtype: the dtype of the values where a call tells none.
    """

    def __init__(
        self, minval: float = -0.05, maxval: float = 0.05, seed: int | None = None, dtype: DTypeLike = dtypes.float32
    ) -> None:
        super().__init__(minval, maxval, seed, dtype)


class RandomNormal(base.RandomNormal):
    """Normal with a standard deviation of 0.05, unless told otherwise.

    Args:
        mean, stddev: mean and standard deviation.
        seed: the op seed.
        dtype: the dtype of the values where a call tells none.
    """

    def __init__(
        self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None, dtype: DTypeLike = dtypes.float32
    ) -> None:
        super().__init__(mean, stddev, seed, dtype)


class TruncatedNormal(base.TruncatedNormal):
    """Normal with a standard deviation of 0.05, unless told otherwise, cut at two of them.

    Args:
        mean, stddev: mean and standard deviation, before the cut.
        seed: the op seed.
        dtype: the dtype of the values where a call tells none.
    """

    def __init__(
        self, mean: float = 0.0, stddev: float = 0.05, seed: int | None = None, dtype: DTypeLike = dtypes.float32
    ) -> None:
        super().__init__(mean, stddev, seed, dtype)


OBJECTS: Final = {
    "Constant": base.Constant, "constant": base.Constant,
    "GlorotNormal": base.GlorotNormal, "glorot_normal": base.GlorotNormal,
    "GlorotUniform": base.GlorotUniform, "glorot_uniform": base.GlorotUniform,
    "Identity": matrices.Identity, "identity": matrices.Identity,
    "Initializer": base.Initializer,
    "Ones": base.Ones, "ones": base.Ones, "one": base.Ones,
    "Orthogonal": matrices.Orthogonal, "orthogonal": matrices.Orthogonal,
    "RandomNormal": RandomNormal, "random_normal": RandomNormal, "normal": RandomNormal,
    "RandomUniform": RandomUniform, "random_uniform": RandomUniform, "uniform": RandomUniform,
    "TruncatedNormal": TruncatedNormal, "truncated_normal": TruncatedNormal,
    "VarianceScaling": base.VarianceScaling,
    "Zeros": base.Zeros, "zeros": base.Zeros, "zero": base.Zeros,
}  # fmt: skip
_FUNCTIONS: Final = {
    "he_normal": base.he_normal, "he_uniform": base.he_uniform,
    "lecun_normal": base.lecun_normal, "lecun_uniform": base.lecun_uniform,
}  # fmt: skip

_get = registry.getter(OBJECTS, "initializer")
deserialize = registry.deserializer(OBJECTS, "initializer")
serialize = registry.serializer("initializer")


def get(identifier: Nest) -> Nest:
    """The initializer that a name, a config, a class, or itself stands for.

    Args:
        identifier: a name such as "glorot_uniform", a config, a class, a callable, or None for None.
    """
    if isinstance(identifier, str) and identifier in _FUNCTIONS:
        return _FUNCTIONS[identifier]()
    return _get(identifier)
