"""Violations of the tensor channel's protocol, told apart by who is to blame."""

from __future__ import annotations


class ProtocolError(Exception):
    """The rules of the tensor channel were broken. Raised only as one of the two subclasses, which name the culprit."""


class LocalProtocolError(ProtocolError):
    """This side tried to send what the channel cannot carry, or at the wrong time. Nothing was sent."""


class RemoteProtocolError(ProtocolError):
    """The peer sent what no correct peer sends. The connection cannot be used any further."""


class CutShortError(RemoteProtocolError):
    """The stream ended within a message: the peer's process is gone, or the connection was cut."""
