"""How soon a peer that stands still is noticed, as a program sets it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tensorboard.compat.proto.config_pb2 import ConfigProto

from weft.errors import InvalidArgumentError
from weft.protocol.heartbeat import TIMEOUT_S

VARIABLE: Final = "WEFT_HEARTBEAT_TIMEOUT_S"


def heartbeat_timeout_s(config: ConfigProto | None, environ: Mapping[str, str]) -> float | None:
    """The time of a ConfigProto, else that of the environment, else the default; None where nobody is to be given up.

    Raises:
        InvalidArgumentError: the environment's is no number of seconds.
    """
    if config is not None and config.experimental.coordination_config.heartbeat_timeout_in_ms > 0:
        return float(config.experimental.coordination_config.heartbeat_timeout_in_ms) / 1000
    text = environ.get(VARIABLE, "")
    try:
        timeout_s = float(text) if text else TIMEOUT_S
    except ValueError:
        timeout_s = -1.0
    if not 0 <= timeout_s < float("inf"):
        raise InvalidArgumentError.of(
            f"{VARIABLE} is {text!r}: it should be a number of seconds such as 2, or 0 to give up no task that stands still"
        )
    return timeout_s or None
