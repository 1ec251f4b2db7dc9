"""The other name of the log, under which programs written for TensorFlow look for it."""

from __future__ import annotations

import logging

from weft.platform.logs import tf_logging


def answer_to(name: str) -> None:
    """Let programs find the logger under this name, with what they have set on one of that name before.

    For programs that import weft as TensorFlow: they silence, redirect or write to the logger `tensorflow`, and read the
    name in its lines.
    """
    before, logger = logging.getLogger(name), tf_logging.get_logger()
    if before is logger:
        return
    logger.name = name
    logger.disabled, logger.propagate = before.disabled, before.propagate
    if before.level:
        logger.setLevel(before.level)
    for handler in before.handlers:
        logger.addHandler(handler)
    for rule in before.filters:
        logger.addFilter(rule)
    known = logging.Logger.manager.loggerDict
    known[name] = logger
    for other in known.values():
        if isinstance(other, logging.Logger) and other.parent is before:
            other.parent = logger
