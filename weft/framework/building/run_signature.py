"""How `run` is typed, for every kind of session: what a program fetches tells the structure of what it gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar, overload

from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation
from weft.proto.messages import RunMetadata, RunOptions

_Key = TypeVar("_Key")
# A tensor's value is an array, a NumPy scalar, bytes or a handle, by its rank and type, which no annotation knows.
_Value: TypeAlias = Any
# What stands in a structure of fetches: fetches, and structures of them.
_Inner: TypeAlias = Any


class OfGraph(Protocol):
    """What belongs to a graph: a tensor, an operation, a variable, a composite of tensors."""

    @property
    def graph(self) -> Graph:
        """Its graph."""
        ...


class _WithValue(OfGraph, Protocol):
    """What has a value in each run: a tensor, a variable."""

    @property
    def dtype(self) -> object: ...


class _Record(Protocol):
    """A named tuple: what is fetched with one has its class."""

    @property
    def _fields(self) -> tuple[str, ...]: ...


class _AttrsRecord(Protocol):
    """An object of an attrs class: what is fetched with one has its class."""

    @property
    def __attrs_attrs__(self) -> object: ...


# One element of what is fetched, and structures of them.
Fetch: TypeAlias = OfGraph | str | bytes
Fetches: TypeAlias = Fetch | _Record | _AttrsRecord | list[_Inner] | tuple[_Inner, ...] | dict[_Inner, _Inner]
# Values by what they are fed to: a tensor, its name, a composite or what conversions are registered for.
Feeds: TypeAlias = Mapping[_Inner, object]


class Run(Protocol):
    """Calls of `Session.run` and its like."""

    # First, so that what may be a tensor or anything else gives anything, and not None as an operation does.
    @overload
    def __call__(
        self,
        fetches: _WithValue | str | bytes,
        feed_dict: Feeds | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> _Value: ...

    @overload
    def __call__(
        self,
        fetches: Operation,
        feed_dict: Feeds | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> None: ...

    @overload
    def __call__(
        self,
        fetches: Fetch | _Record | _AttrsRecord,
        feed_dict: Feeds | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> _Value: ...

    @overload
    def __call__(
        self,
        fetches: list[_Inner],
        feed_dict: Feeds | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> list[_Value]: ...

    @overload
    def __call__(
        self,
        fetches: tuple[_Inner, ...],
        feed_dict: Feeds | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> tuple[_Value, ...]: ...

    @overload
    def __call__(
        self,
        fetches: dict[_Key, _Inner],
        feed_dict: Feeds | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> dict[_Key, _Value]: ...


class MakeCallable(Protocol):
    """Calls of `Session.make_callable`: what is fetched tells what the function returns."""

    @overload
    def __call__(
        self, fetches: Operation, feed_list: Sequence[_Inner] | None = None, accept_options: bool = False
    ) -> Callable[..., None]: ...

    @overload
    def __call__(
        self, fetches: Fetch | _Record | _AttrsRecord, feed_list: Sequence[_Inner] | None = None, accept_options: bool = False
    ) -> Callable[..., _Value]: ...

    @overload
    def __call__(
        self, fetches: list[_Inner], feed_list: Sequence[_Inner] | None = None, accept_options: bool = False
    ) -> Callable[..., list[_Value]]: ...

    @overload
    def __call__(
        self, fetches: tuple[_Inner, ...], feed_list: Sequence[_Inner] | None = None, accept_options: bool = False
    ) -> Callable[..., tuple[_Value, ...]]: ...

    @overload
    def __call__(
        self, fetches: dict[_Key, _Inner], feed_list: Sequence[_Inner] | None = None, accept_options: bool = False
    ) -> Callable[..., dict[_Key, _Value]]: ...


class MakeCallableMethod(Protocol):
    """A method that is called as `MakeCallable` says."""

    @overload
    def __get__(self, instance: None, owner: type) -> Callable[..., _Value]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> MakeCallable: ...


def typed_make_callable(method: Callable[..., _Value]) -> MakeCallableMethod:
    """Give a `make_callable` method the overloads of `MakeCallable`; the method itself stays as it is."""
    return method


class RunMethod(Protocol):
    """A method that is called as `Run` says."""

    @overload
    def __get__(self, instance: None, owner: type) -> Callable[..., _Value]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Run: ...


def typed_run(method: Callable[..., _Value]) -> RunMethod:
    """Give a `run` method the overloads of `Run`; the method itself stays as it is."""
    return method
