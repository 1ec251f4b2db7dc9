"""The session that saves and restores objects when the program names none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from weft.client.session import BaseSession, get_default_session
from weft.framework.building.aliases import SessionLike


@dataclass
class _Provider:
    """The function that gives a session where there is no default one; all threads share it."""

    call: Callable[[], SessionLike] | None = None


_PROVIDER: Final = _Provider()


def register_session_provider(provider: Callable[[], SessionLike]) -> None:
    """Take the session of this function where there is no default one: Keras gives its own."""
    _PROVIDER.call = provider


def chosen_session(session: BaseSession | None) -> BaseSession:
    """The session given, else the default one, else the provider's.

    Raises:
        ValueError: there is none.
        TypeError: it is no session but something around one.
    """
    found: SessionLike | None = session if session is not None else get_default_session()
    if found is None and _PROVIDER.call is not None:
        found = _PROVIDER.call()
    if found is None:
        raise ValueError("Checkpoint: no session was given, and there is no default one; pass session=, or use `with session:`")
    if not isinstance(found, BaseSession):
        raise TypeError(f"Checkpoint: 'session' must be a Session, but is {found}; of a MonitoredSession give its raw session")
    return found
