"""What Keras has and weft has not: each says so, and what to do instead."""

from __future__ import annotations

from typing import NoReturn


def multi_gpu_model(model: object, gpus: object = None, cpu_merge: bool = True, cpu_relocation: bool = False) -> NoReturn:
    """Refuse: a model is put on several devices by tf.device or by a distribution strategy.

    Args:
        model, gpus, cpu_merge, cpu_relocation: not used.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(
        "multi_gpu_model: call the model on a part of the batch under tf.device for each device and average the "
        "gradients, or use "
        "a distribution strategy"
    )


def plot_model(model: object, *args: object, **kwargs: object) -> NoReturn:
    """Refuse: weft draws no models.

    Args:
        model, args, kwargs: not used.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(
        "plot_model: weft draws no models; model.summary() prints the layers, and TensorBoard shows the graph"
    )
