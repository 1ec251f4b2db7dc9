"""Objects of a program's own that checkpoints save: what they hold is found by the attributes' names, or as they say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, TypeVar

from weft.framework.attribute_tracking import NoDependency, tracks_attributes
from weft.framework.types.printed import printed
from weft.training.tracking.dependencies import held_in

_Kept = TypeVar("_Kept")
_HELD: Final = "_named_parts"


class TrackableReference(NamedTuple):
    """What an object holds, and the name by which a checkpoint finds it there."""

    name: str
    ref: object


class TrackableBase:
    """An object that names what a checkpoint is to find in it, by `_track_trackable`. Attributes alone do not count."""

    __repr__ = printed("tf.contrib.checkpoint")

    def _track_trackable(self, trackable: _Kept, name: str, overwrite: bool = False) -> _Kept:
        """Let checkpoints find an object here.

        Args:
            trackable: what can be saved: a variable, a layer, an optimizer, another such object.
            name: the name to find it by.
            overwrite: whether another object may have had the name.

        Returns:
            The object.

        Raises:
            TypeError: it can't be saved.
            ValueError: another object has the name.
        """
        if not held_in(trackable):
            raise TypeError(f"Trackable._track_trackable() passed type {type(trackable)}, not a Trackable.")
        held = self._held_by_name()
        if not overwrite and held.get(name, trackable) is not trackable:
            raise ValueError(
                f"Called Trackable._track_trackable() with name='{name}', but a Trackable with this name is already "
                f"declared as a dependency. Names must be unique (or overwrite=True). ({name!r} is {held[name]}.)"
            )
        held[name] = trackable
        return trackable

    def _held_by_name(self) -> dict[str, object]:
        held: dict[str, object] | None = self.__dict__.get(_HELD)
        if held is None:
            held = {}
            object.__setattr__(self, _HELD, held)
        return held

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        """What a checkpoint finds here, in order; classes of programs' own may say otherwise."""
        return [TrackableReference(name, held) for name, held in self._held_by_name().items()]

    def _lookup_dependency(self, name: str) -> object:
        """What has a name here, None when nothing has: a restore asks for each name of the checkpoint."""
        return self._held_by_name().get(name)

    def dependency_for(self, name: str) -> object:
        """What a restore finds here under a name, None when nothing has it.

        Args:
            name: the name that a checkpoint has.
        """
        return self._lookup_dependency(name)

    def checkpoint_dependencies(self) -> Iterable[tuple[str, object]]:
        """What checkpoints save of it."""
        return [(each.name, each.ref) for each in self._checkpoint_dependencies]


class AutoTrackable(TrackableBase):
    """An object whose attributes a checkpoint saves: variables, layers, such objects, and lists and dicts of these."""

    def __setattr__(self, name: str, value: object) -> None:
        is_left_out = False
        if isinstance(value, NoDependency):
            is_left_out, value = True, value.value
        if tracks_attributes(self):
            held = self._held_by_name()
            held.pop(name, None)
            if not is_left_out and held_in(value):
                held[name] = value
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._held_by_name().pop(name, None)
        object.__delattr__(self, name)
