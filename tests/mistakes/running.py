"""The table of mistakes: programs that a beginner writes, and the parts that what is shown must have.

A catalogue is text: `### title`, the program, `=> ErrorClass`, then a part on each line. The parts are the object's name, what
was expected and found, the next step, and a line of the program (`mistake.py:N`): a row has what the mistake allows of them,
and at most one of them may be lacking.
"""

from __future__ import annotations

import linecache
import logging
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import weft as tf
from weft.platform.tracebacks import short_traceback

_FILE = "mistake.py"


@dataclass(frozen=True)
class Mistake:
    """A program and what it must show."""

    title: str
    source: str
    error: str
    parts: tuple[str, ...]


def load(catalogue: Path) -> list[Mistake]:
    """The mistakes of a catalogue."""
    found = []
    for text in re.split(r"^### ", catalogue.read_text(encoding="utf-8"), flags=re.M)[1:]:
        title, _, rest = text.partition("\n")
        source, _, expected = rest.partition("\n=> ")
        error, *parts = expected.strip().split("\n")
        found.append(Mistake(title, source + "\n", error, tuple(parts)))
    return found


def shown(mistake: Mistake) -> tuple[str, str]:
    """The class of the error that a program ends with, and the text that its author reads."""
    # A message shows source lines, of a program that is no file here.
    linecache.cache[_FILE] = (len(mistake.source), None, mistake.source.splitlines(True), _FILE)
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        names = {"__name__": "__main__", "tf": tf, "np": np, "os": os, "folder": folder}
        environment, log = dict(os.environ), logging.getLogger()
        level, handlers = log.level, list(log.handlers)
        try:
            exec(compile(mistake.source, _FILE, "exec"), names)
        except Exception as error:
            return type(error).__name__, short_traceback.text_of(error)
        finally:
            for value in names.values():
                if isinstance(value, tf.Session):
                    value.close()
                if isinstance(value, tf.train.Server):
                    value.stop()
            for name in os.environ.keys() - environment.keys():
                del os.environ[name]
            os.environ.update(environment)
            # tf.app.run sets both.
            log.setLevel(level)
            log.handlers[:] = handlers
    return "no error", ""
