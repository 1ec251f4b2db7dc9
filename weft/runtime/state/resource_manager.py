"""ResourceManager: a task's containers, which hold variables, queues, iterators, tables and readers by name."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from weft.errors import InvalidArgumentError, NotFoundError
from weft.framework.building.aliases import Array
from weft.framework.types.dims import Dims, dims_compatible
from weft.framework.types.dtypes import DType
from weft.runtime.state.variable_slot import VariableSlot

T = TypeVar("T")


class HeldResource(NamedTuple):
    """Something that a task keeps beyond sessions: in which container, of which class, its name, and what it is."""

    container: str
    kind: str
    name: str
    description: str


class _Foreseen(VariableSlot):
    """A variable that has no value until some program makes it anew with this shape; for who asks whether it has one."""

    __slots__ = ("_container", "_resources")

    def __init__(self, resources: ResourceManager, container: str, there: VariableSlot, dims: Dims) -> None:
        self._resources, self._container = resources, container
        super().__init__(there.name, there.dtype, dims, is_declared=False)

    @property
    def value(self) -> Array:
        """The value of the variable of that shape, None as long as there is none."""
        slot = self._resources.find(self._container, VariableSlot, self.name)
        return slot.value if dims_compatible(slot.dims, self.dims) else None

    @value.setter
    def value(self, value: object) -> None:
        """Only the making of a slot sets it."""


class ResourceManager:
    """The named state of a task; it outlives sessions. All methods are safe from any thread.

    Args:
        default_container: where resources go that name no container; a server uses its job's name.
    """

    def __init__(self, default_container: str = "localhost") -> None:
        self.default_container = default_container
        self._lock = threading.Lock()
        self._containers: dict[str, dict[tuple[type, str], Any]] = {}
        self._owned: dict[str, list[tuple[str, type, str]]] = {}
        """By session, what it alone has: container, class and name."""

    def find_or_create(self, container: str, kind: type[T], name: str, make: Callable[[], T], owner: str = "") -> T:
        """The resource of that class and name; made by `make` when there is none, for `owner` alone where that is given."""
        container, key = container or self.default_container, (kind, name)
        with self._lock:
            resources = self._containers.setdefault(container, {})
            found = resources.get(key)
            if found is None:
                found = resources[key] = make()
                if owner:
                    self._owned.setdefault(owner, []).append((container, kind, name))
            return found

    def find(self, container: str, kind: type[T], name: str) -> T:
        """The resource of that class and name; NotFoundError when there is none."""
        container = container or self.default_container
        with self._lock:
            found = self._containers.get(container, {}).get((kind, name))
        if found is None:
            raise NotFoundError.of(f"Resource {container}/{name}/{kind.__name__} does not exist.")
        return found  # type: ignore[no-any-return]

    def variable(
        self, container: str, name: str, dtype: DType, dims: Dims = None, declares: bool = True, renews: bool | None = None
    ) -> VariableSlot:
        """The slot of a variable.

        Args:
            container: its container.
            name: its name there.
            dtype: what the program declares it as.
            dims: the dimensions declared.
            declares: whether the program reads or assigns it, rather than just asking whether it has a value.
            renews: of a resource variable, whether the program assigns it; None for variables by reference. One of another
                shape is made anew for a program that does. Steps that were prepared before keep the one that they had.

        Raises:
            InvalidArgumentError: another program declared it with another dtype or shape.
        """
        slot = self.find_or_create(container, VariableSlot, name, lambda: VariableSlot(name, dtype, dims, declares))
        if declares:
            slot.declare(dtype, dims)
        if renews is not None and slot.is_declared and slot.dtype is dtype and not dims_compatible(slot.dims, dims):
            if renews:
                return self._renewed(container, slot, VariableSlot(name, dtype, dims))
            if not declares:
                return _Foreseen(self, container, slot, dims)
        if slot.is_declared and (slot.dtype is not dtype or not dims_compatible(slot.dims, dims)):
            raise InvalidArgumentError.of(
                f"Variable {name!r} is held as {slot.dtype.name} of shape {_text(slot.dims)} by this task, but this graph "
                f"declares it as {dtype.name} of shape {_text(dims)}: two programs disagree about it. Give one of them another "
                "name, or clear the container with Session.reset."
            )
        return slot

    def _renewed(self, container: str, old: VariableSlot, new: VariableSlot) -> VariableSlot:
        """Put a slot in the place of another, unless somebody has done so already; returns the one that is there."""
        with self._lock:
            slots = self._containers.setdefault(container or self.default_container, {})
            key = (VariableSlot, new.name)
            if slots.get(key) is old or not dims_compatible(slots[key].dims, new.dims):
                slots[key] = new
            return slots[key]  # type: ignore[no-any-return]

    def delete(self, container: str, kind: type[object], name: str) -> None:
        """Drop one resource; NotFoundError when there is none."""
        self.find(container, kind, name)
        with self._lock:
            closed = self._containers[container or self.default_container].pop((kind, name), None)
        _close(closed)

    def drop_owned(self, owner: str) -> None:
        """Drop what one session alone has."""
        with self._lock:
            keys = self._owned.pop(owner, ())
            dropped = [self._containers.get(container, {}).pop((kind, name), None) for container, kind, name in keys]
        for resource in dropped:
            _close(resource)

    def clear(self, containers: Sequence[str] = ()) -> None:
        """Drop the containers given, or all."""
        with self._lock:
            names = list(containers) or list(self._containers)
            dropped = [self._containers.pop(name, {}) for name in names]
        for resources in dropped:
            for resource in resources.values():
                _close(resource)

    def items(self) -> list[tuple[str, str, object]]:
        """The container, the name and the resource itself of all that there is; not to be changed by the caller."""
        with self._lock:
            return [(container, name, item) for container, held in self._containers.items() for (_, name), item in held.items()]

    def held(self) -> list[HeldResource]:
        """What there is, sorted by container, kind and name."""
        with self._lock:
            found = [(container, key, item) for container, items in self._containers.items() for key, item in items.items()]
        return sorted(HeldResource(container, kind.__name__, name, _described(item)) for container, (kind, name), item in found)


def _text(dims: Dims) -> str:
    return "unknown" if dims is None else str(list(dims))


def _described(resource: object) -> str:
    """A variable's dtype, shape and size, or how many elements or keys something holds."""
    if not isinstance(resource, VariableSlot):
        size = getattr(resource, "size", getattr(getattr(resource, "state", None), "size", None))
        return f"{size} held" if isinstance(size, int) else ""
    value = resource.value
    shape = _text(resource.dims if value is None else value.shape)
    return f"{resource.dtype.name} {shape}, " + ("no value" if value is None else f"{value.nbytes} bytes")


def _close(resource: object) -> None:
    # Queues and iterators wake their waiters when they are dropped; variables have nothing to close.
    close = getattr(resource, "close", None)
    if close is not None:
        close()
