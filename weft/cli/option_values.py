"""The values of options: each kind is read, and refused, in one way by every command."""

from __future__ import annotations

import argparse
import math
import signal

from weft.errors import InvalidArgumentError
from weft.platform.hosts.host_port import split_address


def port(text: str) -> int:
    """A port, of those that a server can be reached at."""
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"expected a port, 1 to 65535, got {text!r}")
    return int(text)


def port_or_any(text: str) -> int:
    """A port, or 0 for any that is free."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"expected a port, 0 to 65535, got {text!r}")
    return int(text)


def address(text: str) -> str:
    """Where a server listens."""
    try:
        split_address(text)
    except InvalidArgumentError:
        raise argparse.ArgumentTypeError(f"expected HOST:PORT, got {text!r}") from None
    return text


def seconds(text: str) -> float:
    """A time that may be 0."""
    value = _number(text)
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"expected seconds, 0 or more, got {text!r}")
    return value


def seconds_above_0(text: str) -> float:
    """A time within which something has to happen."""
    value = _number(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"expected seconds, more than 0, got {text!r}")
    return value


def whole_seconds(text: str) -> int:
    """A time of whole seconds, for those who take no other."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected whole seconds, 0 or more, got {text!r}")
    return int(text)


def days(text: str) -> int:
    """How many days something is valid."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a number of days, 1 or more, got {text!r}")
    return int(text)


def signal_names(text: str) -> str:
    """Names of signals that a process can take, such as `SIGTERM,SIGUSR1`; an empty text for none."""
    for name in filter(None, (each.strip() for each in text.split(","))):
        if name not in signal.Signals.__members__ or signal.Signals[name] in (signal.SIGKILL, signal.SIGSTOP):
            told = "no signal that a process can take"
            raise argparse.ArgumentTypeError(f"expected signals such as SIGTERM,SIGUSR1, got {text!r}: {name!r} is {told}")
    return text


def tolerance(text: str) -> float:
    """By how much two numbers may differ."""
    value = _number(text)
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"expected a number, 0 or more, got {text!r}")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
