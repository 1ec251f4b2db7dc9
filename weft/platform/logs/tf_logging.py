"""The log of weft and its programs: one standard `logging` logger named `weft`, with TensorFlow 1.x's functions.

Records go to standard error as `LEVEL:weft:message`, unless the program gave the root logger handlers of its own: then
they go there only, in the program's format, and no line is written twice. The level is the root logger's until
`set_verbosity`: WARN, or what the program has set there, or INFO under `tf.app.run`.
"""

from __future__ import annotations

import logging as _logging
import sys as _sys
from collections import Counter as _Counter
from logging import DEBUG, ERROR, FATAL, INFO, WARN
from typing import Any as _Any

from absl import logging as _absl_logging

__all__ = [
    "DEBUG",
    "ERROR",
    "FATAL",
    "INFO",
    "WARN",
    "TaskLevelStatusMessage",
    "debug",
    "error",
    "fatal",
    "flush",
    "get_logger",
    "get_verbosity",
    "info",
    "log",
    "log_every_n",
    "log_first_n",
    "log_if",
    "set_verbosity",
    "vlog",
    "warn",
    "warning",
]


class _StderrUnlessProgramLogs(_logging.Handler):
    """Writes records to standard error, unless the program's own handlers on the root logger have them.

    absl puts a handler on the root logger when `app.run` starts. It is not the program's: it counts as none, and weft's
    records are kept from it.
    """

    def emit(self, record: _logging.LogRecord) -> None:
        if all(isinstance(handler, _absl_logging.ABSLHandler) for handler in _logging.getLogger().handlers):
            # Looked up at each record: notebooks and tests replace sys.stderr.
            _sys.stderr.write(self.format(record) + "\n")

    def flush(self) -> None:
        _sys.stderr.flush()


def _is_foreign(record: _logging.LogRecord) -> bool:
    return record.name.partition(".")[0] not in ("weft", _logger.name)


def _make_logger() -> _logging.Logger:
    logger = _logging.getLogger("weft")
    handler = _StderrUnlessProgramLogs()
    handler.setFormatter(_logging.Formatter(_logging.BASIC_FORMAT))
    logger.addHandler(handler)
    _absl_logging.get_absl_handler().addFilter(_is_foreign)
    return logger


_logger = _make_logger()
_calls_by_place: _Counter[tuple[str, int]] = _Counter()

# stacklevel=2 below attributes each record to the caller of the function here.


def get_logger() -> _logging.Logger:
    """Return the logger; loggers named `weft.<module>` write through it."""
    return _logger


def log(level: int, msg: object, *args: _Any, **kwargs: _Any) -> None:
    """Log `msg % args` at a level.

    Args:
        level: the level, such as `tf.logging.INFO`.
        msg: the message, with `%` for the arguments.
        args: what stands in the message's places.
        kwargs: those of Python's `logging`, such as `exc_info=True`.
    """
    _logger.log(level, msg, *args, **{"stacklevel": 2, **kwargs})


def vlog(level: int, msg: object, *args: _Any, **kwargs: _Any) -> None:
    """Log `msg % args` at a level; the same as `log`.

    Args: those of `tf.logging.log`.
    """
    _logger.log(level, msg, *args, **{"stacklevel": 2, **kwargs})


def debug(msg: object, *args: _Any, **kwargs: _Any) -> None:
    """Log `msg % args` at DEBUG.

    Args: those of `tf.logging.info`.
    """
    _logger.debug(msg, *args, **{"stacklevel": 2, **kwargs})


def info(msg: object, *args: _Any, **kwargs: _Any) -> None:
    """Log `msg % args` at INFO.

    >>> tf.logging.info("step %d", 3)

    Args:
        msg: the message, with `%` for the arguments.
        args: what stands in the message's places.
        kwargs: those of Python's `logging`, such as `exc_info=True`.
    """
    _logger.info(msg, *args, **{"stacklevel": 2, **kwargs})


def warning(msg: object, *args: _Any, **kwargs: _Any) -> None:
    """Log `msg % args` at WARN.

    >>> tf.logging.warning("%s is slow", "step 3")

    Args: those of `tf.logging.info`.
    """
    _logger.warning(msg, *args, **{"stacklevel": 2, **kwargs})


def warn(msg: object, *args: _Any, **kwargs: _Any) -> None:
    """Log `msg % args` at WARN.

    Args: those of `tf.logging.info`.
    """
    _logger.warning(msg, *args, **{"stacklevel": 2, **kwargs})


def error(msg: object, *args: _Any, **kwargs: _Any) -> None:
    """Log `msg % args` at ERROR.

    Args: those of `tf.logging.info`.
    """
    _logger.error(msg, *args, **{"stacklevel": 2, **kwargs})


def fatal(msg: object, *args: _Any, **kwargs: _Any) -> None:
    """Log `msg % args` at FATAL; the program goes on.

    Args: those of `tf.logging.info`.
    """
    _logger.critical(msg, *args, **{"stacklevel": 2, **kwargs})


def TaskLevelStatusMessage(msg: object) -> None:
    """Log `msg` at ERROR.

    Args:
        msg: the message.
    """
    _logger.error(msg, stacklevel=2)


def log_if(level: int, msg: object, condition: object, *args: _Any) -> None:
    """Log `msg % args` at a level if the condition holds.

    Args:
        level: the level, such as `tf.logging.INFO`.
        msg: the message, with `%` for the arguments.
        condition: whether to log it, by its truth.
        args: what stands in the message's places.
    """
    if condition:
        _logger.log(level, msg, *args, stacklevel=2)


def log_every_n(level: int, msg: object, n: int, *args: _Any) -> None:
    """Log the first of every n calls from the same line of the program.

    Args:
        level: the level, such as `tf.logging.INFO`.
        msg: the message, with `%` for the arguments.
        n: how many calls make a round.
        args: what stands in the message's places.
    """
    if _calls_before() % n == 0:
        _logger.log(level, msg, *args, stacklevel=2)


def log_first_n(level: int, msg: object, n: int, *args: _Any) -> None:
    """Log the first n calls from the same line of the program.

    Args:
        level: the level, such as `tf.logging.INFO`.
        msg: the message, with `%` for the arguments.
        n: how many calls are logged.
        args: what stands in the message's places.
    """
    if _calls_before() < n:
        _logger.log(level, msg, *args, stacklevel=2)


def _calls_before() -> int:
    """Count this call for the line that called our caller; return how often that line called before."""
    frame = _sys._getframe(2)
    place = (frame.f_code.co_filename, frame.f_lineno)
    _calls_by_place[place] += 1
    return _calls_by_place[place] - 1


def set_verbosity(v: int) -> None:
    """Log what is at least this serious.

    >>> before = tf.logging.get_verbosity()
    >>> tf.logging.set_verbosity(tf.logging.ERROR)
    >>> tf.logging.set_verbosity(before)

    Args:
        v: a level: `tf.logging.DEBUG`, INFO, WARN, ERROR or FATAL.
    """
    _logger.setLevel(v)


def get_verbosity() -> int:
    """Return the level below which nothing is logged."""
    return _logger.getEffectiveLevel()


def flush() -> None:
    """Write out what the handlers hold back."""
    for handler in _logger.handlers:
        handler.flush()
