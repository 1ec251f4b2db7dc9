"""tf.keras.regularizers: penalties on weights and outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Self

from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types.printed import printed
from weft.networks.objects import registry
from weft.networks.state.defaults import cast_to_floatx, floatx
from weft.ops.array.constant import constant
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.elementwise import square
from weft.ops.math.reduce_functions import reduce_sum


class Regularizer:
    """The base of regularizers: a function of weights that gives a penalty, and its config."""

    __repr__ = printed("tf.keras.regularizers")

    def __call__(self, x: VariableLike) -> Tensor:
        """The penalty."""
        return constant(0.0)

    def get_config(self) -> dict[str, object]:
        """The arguments that make an equal one."""
        raise NotImplementedError(f"{self} does not implement get_config()")

    @classmethod
    def from_config(cls, config: dict[str, object]) -> Self:
        """A regularizer of its config.

        Args:
            config: the constructor's arguments by name, as `get_config` gives them.
        """
        return cls(**config)


class L1L2(Regularizer):
    """`l1` times the sum of magnitudes, and `l2` times the sum of squares.

    Args:
        l1, l2: the two factors.
    """

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1, self.l2 = cast_to_floatx(l1), cast_to_floatx(l2)

    def __call__(self, x: VariableLike) -> Tensor:
        """The penalty."""
        penalty: float | Tensor = 0.0
        if self.l1:
            penalty += self.l1 * reduce_sum(absolute(x))
        if self.l2:
            penalty += self.l2 * reduce_sum(square(x))
        return penalty if isinstance(penalty, Tensor) else constant(penalty, dtype=floatx())

    def get_config(self) -> dict[str, object]:
        """Both factors."""
        return {"l1": float(self.l1), "l2": float(self.l2)}


def l1(l: float = 0.01) -> L1L2:  # noqa: E741
    """`l` times the sum of magnitudes.

    Args:
        l: the factor.
    """
    return L1L2(l1=l)


def l2(l: float = 0.01) -> L1L2:  # noqa: E741
    """`l` times the sum of squares.

    Args:
        l: the factor.
    """
    return L1L2(l2=l)


def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """`l1` times the sum of magnitudes, and `l2` times the sum of squares.

    Args:
        l1, l2: the two factors.
    """
    return L1L2(l1=l1, l2=l2)


OBJECTS: Final[dict[str, Callable[..., L1L2]]] = {"L1L2": L1L2, "l1": l1, "l2": l2, "l1_l2": l1_l2}

_get = registry.getter(OBJECTS, "regularizer")
deserialize = registry.deserializer(OBJECTS, "regularizer")
serialize = registry.serializer("regularizer")


def get(identifier: Nest) -> Nest:
    """The regularizer that a name, a config, or itself stands for; the names "l1", "l2" and "l1_l2" take the defaults.

    Args:
        identifier: a name, a config, a callable, or None for None.

    Raises:
        ValueError: nobody knows it.
    """
    if identifier in ("l1", "l2", "l1_l2"):
        return OBJECTS[str(identifier)]()
    return _get(identifier)
