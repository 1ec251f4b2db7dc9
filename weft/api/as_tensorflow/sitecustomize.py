"""Gives back what Python had when programs of TensorFlow 1 were written, to those that `weft run` runs.

Python imports this file when it starts, and no other of that name: one that stands further on the module path is run from here.
"""

from __future__ import annotations

import base64
import collections.abc
import errno
import fractions
import importlib
import importlib.util
import inspect
import json
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
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


def _without_encoding(function: Callable[..., object]) -> Callable[..., object]:
    """A function of json's, which may be told the encoding; Python 3.9 dropped the argument, which had no effect."""

    def read(*args: object, encoding: object = None, **kwargs: object) -> object:
        return function(*args, **kwargs)

    read.__name__, read.__doc__ = function.__name__, function.__doc__
    return read


def _give_back(owner: ModuleType | type, **names: object) -> None:
    for name, value in names.items():
        if not hasattr(owner, name):
            setattr(owner, name, value)


class _Former(MetaPathFinder, Loader):
    """Loads a module with its former names, whenever a program imports it: before TensorFlow or after.

    Args:
        name: the module's.
        giver: the module whose `give_back` adds the names.
    """

    def __init__(self, name: str, giver: str) -> None:
        self._name = name
        self._giver = giver

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            self._loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        # The one for NumPy imports it, where TensorFlow comes first.
        giver = sys.modules.get(self._giver) or importlib.import_module(self._giver)
        if hasattr(giver, "give_back"):
            giver.give_back()


def _run_the_next() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    spec = PathFinder.find_spec(__name__, [path for path in sys.path if os.path.abspath(path or ".") != here])
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


_give_back(collections, **{name: getattr(collections.abc, name) for name in collections.abc.__all__})
_give_back(inspect, ArgSpec=ArgSpec, getargspec=getargspec)
_give_back(time, clock=time.process_time)
_give_back(base64, encodestring=base64.encodebytes, decodestring=base64.decodebytes)
_give_back(fractions, gcd=math.gcd)
_give_back(os, errno=errno)
_give_back(threading.Thread, isAlive=threading.Thread.is_alive)
json.loads, json.load = _without_encoding(json.loads), _without_encoding(json.load)
sys.meta_path[:0] = [
    _Former("numpy", "weft.api.former_names"),
    *(_Former(f"PIL.{name}", "weft.api.former_pictures") for name in ("Image", "ImageDraw", "ImageFont")),
]
importlib.import_module("weft_former_protos").install()
if sys.version_info >= (3, 12):
    importlib.import_module("weft_gone_modules").install()
_run_the_next()
