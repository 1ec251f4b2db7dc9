"""What Python 2 had that programs of TensorFlow's first years use, where Python says only that it is not there."""

from __future__ import annotations

import ast
import re
from typing import Final

from weft.platform.frames.failing_call import failing, passes_weft

_NAMES: Final = {
    "xrange": "range",
    "unicode": "str",
    "basestring": "str",
    "long": "int",
    "unichr": "chr",
    "raw_input": "input",
    "reduce": "functools.reduce",
    "reload": "importlib.reload",
    "izip": "zip",
    "imap": "map",
    "cmp": "(a > b) - (a < b)",
    "file": "open",
    "execfile": "exec(open(path).read())",
}
_MODULES: Final = {
    "cPickle": "pickle",
    "Queue": "queue",
    "StringIO": "io",
    "cStringIO": "io",
    "urllib2": "urllib.request",
    "urlparse": "urllib.parse",
    "ConfigParser": "configparser",
    "commands": "subprocess",
    "Tkinter": "tkinter",
    "httplib": "http.client",
    "SocketServer": "socketserver",
    "__builtin__": "builtins",
}
_OF_DICT: Final = {
    "has_key": "`key in {0}` asks for a key",
    "iteritems": "{0}.items() has the pairs",
    "iterkeys": "{0}.keys() has the keys",
    "itervalues": "{0}.values() has the values",
}
_NO_LIST: Final = re.compile(
    r"'(dict_keys|dict_values|dict_items|map|zip|filter|range)' object is not subscriptable"
    r"|object of type '(map|zip|filter)' has no len\(\)"
    r"|unsupported operand type\(s\) for \+: '(dict_keys|dict_values|dict_items|map|zip|filter|range)' and"
    r"|'(dict_keys|dict_values|dict_items|range)' object has no attribute '(?:sort|append|extend|remove)'"
    r"|'(range)' object does not support item assignment"
)
_FRACTION: Final = re.compile(
    "'float' object cannot be interpreted as an integer|slice indices must be integers or None or have an __index__ method"
)
_PICKLED: Final = re.compile(r"'ascii' codec can't decode byte")


def hint_for_old_python(error: BaseException, text: str) -> str:
    """What Python 3 has in its place; empty where the error is about something else."""
    if isinstance(error, ModuleNotFoundError):
        return _in_place_of(error.name or "", _MODULES)
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError):
        return _in_place_of(error.name or "", _NAMES)
    if isinstance(error, UnicodeDecodeError):
        return _of_pickle(error) if _PICKLED.search(text) else ""
    if isinstance(error, AttributeError) and (said := _of_method(error)):
        return said
    if isinstance(error, TypeError | AttributeError) and (found := _NO_LIST.search(text)):
        kind = next(filter(None, found.groups()))
        return f"It is no list in Python 3, but of type {kind}: list(...) around it makes one."
    if isinstance(error, TypeError) and _FRACTION.search(text) and not passes_weft(error):
        return "`/` gives a fraction in Python 3, also of two whole numbers: `//` divides them as Python 2's `/` did."
    return ""


def _of_pickle(error: BaseException) -> str:
    expression, _ = failing(error)
    if not isinstance(expression, ast.Call) or ast.unparse(expression.func).rpartition(".")[2] not in ("load", "loads"):
        return ""
    return "Python 2 has written it: pickle.load(file, encoding='latin1') reads it."


def _of_method(error: AttributeError) -> str:
    """For a method of Python 2's dicts and texts."""
    expression, _ = failing(error)
    owners = [] if expression is None else [each for each in ast.walk(expression) if isinstance(each, ast.Attribute)]
    owner = next((ast.unparse(each.value) for each in owners if each.attr == error.name), "it")
    if isinstance(error.obj, dict) and error.name in _OF_DICT:
        return f"{error.name} was Python 2's: {_OF_DICT[error.name].format(owner)}."
    if isinstance(error.obj, str) and error.name == "decode":
        return f"{owner} is a text already in Python 3: leave out .decode(...)."
    return ""


def _in_place_of(name: str, known: dict[str, str]) -> str:
    return f"{name} was Python 2's: {known[name]} is what Python 3 has in its place." if name in known else ""
