"""What programs of another TensorFlow ask weft's objects for: methods of TensorFlow 2, lengths, items, setters."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from weft.platform.frames.failing_call import failing, named_in_weft, resolve
from weft.platform.frames.program_frames import is_of_weft

_ELEMENTS: Final = (
    "Elements come in runs: next_element = dataset.make_one_shot_iterator().get_next() makes the tensor once, and each "
    "session.run(next_element) gives the next value as NumPy's array, until tf.errors.OutOfRangeError."
)
_ITERATOR: Final = (
    "It is an iterator's: iterator = dataset.make_initializable_iterator() has initializer, get_next() and string_handle(), "
    "one of dataset.make_one_shot_iterator() needs no initializer."
)
_COUNT: Final = "session.run(tf.data.experimental.cardinality(dataset)) tells how many elements there are, where that is known."
_TRANSFORMATION: Final = "It is a function in TensorFlow 1.x: dataset.apply(tf.data.experimental.{0}(...))."
_SERVER: Final = (
    "A ClusterSpec tells which tasks there are; one of them is a server, tf.train.Server(cluster, job_name, task_index), which "
    "has target and join()."
)
# By a class and an attribute that TensorFlow 2, or one before 1.0, gives it.
_ATTRIBUTES: Final[Mapping[str, Mapping[str, str]]] = {
    "Dataset": {
        "as_numpy_iterator": _ELEMENTS,
        **dict.fromkeys(("get_next", "next", "initializer", "string_handle"), _ITERATOR),
        "cardinality": _COUNT,
        **{
            name: _TRANSFORMATION.format(name)
            for name in (
                *("bucket_by_sequence_length", "copy_to_device", "group_by_window", "ignore_errors", "prefetch_to_device"),
                *("rejection_resample", "scan", "take_while", "unique"),
            )
        },
    },
    "ClusterSpec": dict.fromkeys(("join", "target", "start"), _SERVER),
    "Strategy": {"run": "In TensorFlow 1.x the method is strategy.experimental_run_v2(function, args=(...))."},
    "Estimator": {"fit": "An estimator is trained by estimator.train(input_fn, steps=...)."},
    "SessionRunHook": {
        "request_stop": "What a hook's before_run and after_run are given asks for the end: run_context.request_stop().",
        "session": "What a hook's before_run and after_run are given has the session: run_context.session.",
    },
    "FileWriter": {
        "as_default": (
            "In a graph, summaries are ops: writer.add_summary(session.run(tf.summary.merge_all()), step) writes their values."
        )
    },
}
_NO_LENGTH: Final = re.compile(r"object of type '(\w+)' has no len\(\)")
_NO_ITEM: Final = re.compile(r"'(\w+)' object is not subscriptable")
_NO_SETTER: Final = re.compile(r"property '(\w+)' of '(\w+)' object has no setter")


def hint_for_habit(error: BaseException, text: str) -> str:
    """The way of a program of TensorFlow 1.x; empty where the error is about something else."""
    if isinstance(error, AttributeError):
        return _of_attribute(error.obj, error.name) or _of_setter(text)
    if not isinstance(error, TypeError):
        return ""
    if found := _NO_LENGTH.search(text):
        return _of_dataset(error, found[1], _COUNT)
    if found := _NO_ITEM.search(text):
        return _of_function(error) if found[1] == "function" else _of_dataset(error, found[1], _ELEMENTS)
    return ""


def _of_attribute(owner: object, name: str | None) -> str:
    if name == "numpy" and isinstance(owner, np.ndarray | np.generic):
        return "It is NumPy's already: leave out .numpy()."
    kind = owner if isinstance(owner, type) else type(owner)
    if name is None:
        return ""
    # A class of the program's may derive from one of weft's, as every hook does.
    of_weft = [_ATTRIBUTES.get(each.__name__, {}) for each in kind.__mro__ if is_of_weft(each)]
    return next((said for known in of_weft if (said := known.get(name))), "")


def _of_dataset(error: TypeError, kind: str, said: str) -> str:
    """What is said of a dataset, where the one that has failed may be weft's."""
    if kind != "Dataset" or "weft.datasets.dataset" not in sys.modules:
        return ""
    expression, frame = failing(error)
    match expression:
        case ast.Call(args=[asked, *_]) | ast.Subscript(value=asked):
            found = None if frame is None else resolve(asked, frame)
            return said if found is None or is_of_weft(type(found)) else ""
    return ""


def _of_function(error: TypeError) -> str:
    expression, frame = failing(error)
    if not isinstance(expression, ast.Subscript) or frame is None or not is_of_weft(resolve(expression.value, frame)):
        return ""
    name = ast.unparse(expression.value)
    return f"{name} is a function: {name}()[{ast.unparse(expression.slice)}] is an item of what it returns."


def _of_setter(text: str) -> str:
    """For a property that a program sets: the methods that change what it tells."""
    found = _NO_SETTER.search(text)
    kind = None if found is None else _class_named(found[2])
    if found is None or kind is None:
        return ""
    methods = [each for each in dir(kind) if each.startswith((found[1], f"set_{found[1]}")) and _is_method(kind, each)]
    changes = f", and {' and '.join(f'{each}()' for each in methods)} changes it" if methods else ""
    return f"{found[2]}.{found[1]} only tells it{changes}."


def _is_method(kind: type, name: str) -> bool:
    function: Callable[..., object] | None = inspect.getattr_static(kind, name, None)
    return inspect.isfunction(function)


def _class_named(name: str) -> type | None:
    """A class of weft."""
    return next((found for found in named_in_weft(name) if isinstance(found, type) and is_of_weft(found)), None)
