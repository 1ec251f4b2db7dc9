"""What Keras has and weft has not: each says so, and what to do instead."""

from __future__ import annotations

from typing import Final, NoReturn

_PICTURES: Final = "weft draws no models; model.summary() prints the layers, and TensorBoard shows the graph"


def plot_model(model: object, *args: object, **kwargs: object) -> NoReturn:
    """Refuse: weft draws no models.

    Args:
        model, args, kwargs: not used.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(f"plot_model: {_PICTURES}")


def model_to_dot(model: object, *args: object, **kwargs: object) -> NoReturn:
    """Refuse: weft draws no models.

    Args:
        model, args, kwargs: not used.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(f"model_to_dot: {_PICTURES}")
