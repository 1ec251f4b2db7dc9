"""Which attributes of an object are its parts, for checkpoints and for layers around it: what a program excepts."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from weft.framework.types.printed import printed

_TRACKS: Final = "_setattr_tracking"
_Method = TypeVar("_Method", bound=Callable[..., object])


class NoDependency:
    """Set as an attribute, leaves the attribute with the value, which is then no part of the object.

    Args:
        value: what the attribute is to be.
    """

    __repr__ = printed("tf.contrib.checkpoint")

    def __init__(self, value: object) -> None:
        self.value = value


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj: object) -> Iterator[None]:
    """A block in which attributes of an object are set that are no parts of it.

    Args:
        obj: an object of `tf.contrib.checkpoint.Checkpointable`, a layer or a model.
    """
    before = tracks_attributes(obj)
    object.__setattr__(obj, _TRACKS, False)
    try:
        yield
    finally:
        object.__setattr__(obj, _TRACKS, before)


def no_automatic_dependency_tracking(method: _Method) -> _Method:
    """Let a method set attributes that are no parts of its object; for use as a decorator.

    Args:
        method: the method.
    """

    @functools.wraps(method)
    def untracked(self: object, *args: object, **kwargs: object) -> object:
        with no_automatic_dependency_tracking_scope(self):
            return method(self, *args, **kwargs)

    return untracked  # type: ignore[return-value]


def tracks_attributes(obj: object) -> bool:
    """Whether what is set as an attribute of an object now becomes a part of it.

    Args:
        obj: the object.
    """
    return bool(vars(obj).get(_TRACKS, True))
