"""Names of strategies that weft does not have; each says so, and what to use instead, when it is called."""

from __future__ import annotations

from typing import NoReturn

_TPU = (
    "weft has no strategy for TPUs. Use tf.distribute.MirroredStrategy on the GPUs or CPUs of one machine, and "
    "tf.distribute.experimental.MultiWorkerMirroredStrategy on those of several"
)


class TPUStrategy:
    """TensorFlow's strategy for TPUs; NotImplementedError.

    Args:
        arguments, options: whatever TensorFlow's class takes; not looked at.
    """

    def __init__(self, *arguments: object, **options: object) -> None:
        raise NotImplementedError(f"TPUStrategy: {_TPU}.")


def initialize_tpu_system(cluster_resolver: object = None) -> NoReturn:
    """TensorFlow's start of TPUs; NotImplementedError.

    Args:
        cluster_resolver: not looked at.
    """
    raise NotImplementedError(f"initialize_tpu_system: {_TPU}.")
