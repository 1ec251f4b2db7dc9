"""Each public method of a public class says what it does; those of the classes that programs use most tell all arguments.

A method that stands for one of a base class need not tell again what that tells. How many methods elsewhere leave something out
is a limit that held when it was written: it may shrink, and never grow.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest

import weft as tf
from tests.docs.test_docstrings import described, public_objects
from tests.docs.test_told import _raised, _untold_arguments

_WHOLE = (
    tf.ConditionalAccumulator, tf.FIFOQueue, tf.RandomShuffleQueue, tf.TensorArray, tf.TensorShape, tf.data.Dataset,
    tf.data.Iterator, tf.keras.callbacks.Callback, tf.keras.optimizers.Optimizer, tf.python_io.TFRecordWriter,
    tf.saved_model.Builder, tf.summary.FileWriter, tf.train.CheckpointSaverListener, tf.train.ClusterSpec, tf.train.Coordinator,
    tf.train.ExponentialMovingAverage, tf.train.SessionRunHook, tf.LocalCluster,
    tf.Graph, tf.Operation, tf.Session, tf.SparseConditionalAccumulator, tf.SparseTensor, tf.Tensor, tf.Variable,
    tf.contrib.staging.StagingArea, tf.estimator.Estimator, tf.estimator.RunConfig, tf.layers.BatchNormalization,
    tf.layers.Conv2D, tf.layers.Dense, tf.layers.Dropout, tf.nn.rnn_cell.LSTMCell, tf.train.AdamOptimizer,
    tf.train.MonitoredSession, tf.train.QueueRunner, tf.train.Saver, tf.train.Server, tf.train.SessionManager,
    tf.train.Supervisor, tf.train.SyncReplicasOptimizer,
)  # fmt: skip
_LIMIT = 315
# Methods of these classes that only weft's own code calls.
_INNER = frozenset(("leave", "limit", "made_by", "restart"))


def _methods(found: type) -> Iterator[tuple[type, str, object]]:
    for base in found.__mro__:
        if base.__module__.startswith("weft.") and not base.__module__.startswith("weft.proto."):
            for name, member in vars(base).items():
                function = inspect.unwrap(getattr(member, "__func__", member))
                if not name.startswith("_") and name not in _INNER and inspect.isfunction(function):
                    yield base, name, function


def _told_above(base: type, name: str) -> set[str]:
    """The arguments that methods of this name tell in the bases."""
    above = (getattr(vars(each)[name], "__func__", vars(each)[name]) for each in base.__mro__[1:] if name in vars(each))
    return {argument for function in above for argument in described(inspect.getdoc(function) or "")}


def _lacks(base: type, name: str, function: object) -> list[str]:
    doc = inspect.getdoc(function) or ""
    above = _told_above(base, name)
    untold = [each for each in _untold_arguments(function, doc) if each not in above]
    errors = {f"Raises {each}" for each in _raised(function) if each not in doc and each != "NotImplementedError"}
    overrides = any(name in vars(each) for each in base.__mro__[1:])
    return untold if overrides else [*untold, *sorted(errors)]


@pytest.mark.parametrize("found", _WHOLE, ids=lambda found: found.__name__)
def test_the_methods_of_a_class_that_programs_use_tell_arguments_and_errors(found: type) -> None:
    lacks = {f"{base.__name__}.{name}": _lacks(base, name, function) for base, name, function in _methods(found)}
    assert {name: lacking for name, lacking in lacks.items() if lacking} == {}


def test_every_public_method_says_what_it_does_and_most_tell_all() -> None:
    silent, lacking, seen = set(), set(), set()
    for _, found, _ in public_objects():
        for base, name, function in _methods(found) if inspect.isclass(found) else ():
            key = f"{base.__module__} {base.__qualname__}.{name}"
            if key in seen:
                continue
            seen.add(key)
            if not inspect.getdoc(getattr(base, name)):
                silent.add(key)
            elif _lacks(base, name, function):
                lacking.add(key)
    assert silent == set()
    assert len(lacking) <= _LIMIT, sorted(lacking)
