"""TensorFlow's debugger by its names: weft has none, and says so, with what there is instead, where a program turns it on.

Programs import tensorflow.python.debug at their start and use it when a flag asks for it.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np


def has_inf_or_nan(datum: object, tensor: object) -> bool:
    """Whether a dumped value has an infinity or is not a number anywhere; `datum` is not looked at."""
    array = np.asarray(tensor)
    if not np.issubdtype(array.dtype, np.inexact):
        return False
    return not bool(np.isfinite(array).all())


class _Refused:
    """A wrapper of sessions, or a hook, that weft does not have."""

    def __init__(self, *given: object, **named: object) -> None:
        _refuse(type(self).__name__)


class LocalCLIDebugWrapperSession(_Refused):
    """A session whose runs are looked at in a terminal."""


class LocalCLIDebugHook(_Refused):
    """The hook that does this to a MonitoredSession."""


class DumpingDebugWrapperSession(_Refused):
    """A session whose runs write every tensor into files."""


class DumpingDebugHook(_Refused):
    """The hook that does this to a MonitoredSession."""


class TensorBoardDebugWrapperSession(_Refused):
    """A session whose runs TensorBoard's debugger looks at."""


class TensorBoardDebugHook(_Refused):
    """The hook that does this to a MonitoredSession."""


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"tf_debug.{name}: weft has no tfdbg. Fetch the tensors in question, as session.run('layer/op:0'), or print them with "
        "tf.Print; tf.add_check_numerics_ops() names the first operation that makes a NaN or an infinity, and "
        "weft.explain(fetches) shows what a step runs"
    )
