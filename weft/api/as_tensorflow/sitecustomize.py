"""Gives back what Python had when programs of TensorFlow 1 were written, to those that `weft run` runs.

Python imports this file when it starts, and no other of that name: one that stands further on the module path is run from here.
"""

from __future__ import annotations

import collections.abc
import inspect
import os
import sys
import time
from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from types import ModuleType
from typing import NamedTuple


class ArgSpec(NamedTuple):
    """What `getargspec` returns."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[object, ...] | None


def getargspec(func: Callable[..., object]) -> ArgSpec:
    """What a function takes, without keyword-only arguments and annotations; Python 3.11 dropped it."""
    full = inspect.getfullargspec(func)
    return ArgSpec(full.args, full.varargs, full.varkw, full.defaults)


def _give_back(module: ModuleType, **names: object) -> None:
    for name, value in names.items():
        vars(module).setdefault(name, value)


def _run_the_next() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    spec = PathFinder.find_spec(__name__, [path for path in sys.path if os.path.abspath(path or ".") != here])
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


_give_back(collections, **{name: getattr(collections.abc, name) for name in collections.abc.__all__})
_give_back(inspect, ArgSpec=ArgSpec, getargspec=getargspec)
_give_back(time, clock=time.process_time)
_run_the_next()
