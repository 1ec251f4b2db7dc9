"""What a program is told that asks for a name which weft does not have: TensorFlow's or a typo, and what to use instead."""

from __future__ import annotations

import dis
import importlib
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Final, NoReturn

from weft.api import contrib_paths, on_demand
from weft.api.shown_names import shown_names
from weft.platform.hints.spelling import nearest

_ENGINE_DOORS: Final = "weft.api."
# The public names of TensorFlow 1.15 that weft lacks, one a line; a module ends with a dot and stands for all that is in it.
_LACKING: Final = Path(__file__).with_name("lacking_names.txt")
_IMPORT_FROM: Final = dis.opmap["IMPORT_FROM"]

# What earlier and later versions of TensorFlow called it.
_RENAMED: Final = {
    "mul": "tf.multiply", "sub": "tf.subtract", "neg": "tf.negative", "pack": "tf.stack", "unpack": "tf.unstack",
    "select": "tf.where", "inv": "tf.reciprocal", "batch_matmul": "tf.matmul", "concat_v2": "tf.concat",
    "complex_abs": "tf.abs", "listdiff": "tf.setdiff1d", "batch_cholesky": "tf.cholesky", "batch_svd": "tf.svd",
    "audio_summary": "tf.summary.audio", "nn.rnn": "tf.nn.static_rnn",
    "nn.bidirectional_rnn": "tf.nn.static_bidirectional_rnn", "nn.state_saving_rnn": "tf.nn.static_state_saving_rnn",
    "optimizers": "tf.train (tf.train.AdamOptimizer and so on)", "summary.create_file_writer": "tf.summary.FileWriter",
    "summary.trace_on": "tf.RunOptions(trace_level=...)", "train.load_op_library": "tf.load_op_library",
    "contrib.saved_model": "tf.saved_model",
    "random.set_seed": "tf.set_random_seed",
    "linalg.inverse": "tf.matrix_inverse",
}  # fmt: skip
_REASONS: Final = {
    "lite": "weft trains and serves: tf.saved_model exports models in TensorFlow's format, which TensorFlow Lite converts.",
    "contrib.distribute": "weft has the strategies of docs/strategies.md.",
    "distribute": "weft has the strategies of docs/strategies.md, and cluster resolvers for TF_CONFIG and a ClusterSpec.",
    "config.experimental_connect_to_cluster": "tf.train.Server is a task; tf.Session('grpc://host:port') runs graphs on it.",
    "config.experimental_connect_to_host": "tf.train.Server is a task; tf.Session('grpc://host:port') runs graphs on it.",
    "sysconfig": (
        "There are no headers or libraries to build operations against: tf.py_func runs a Python function, and "
        "weft.jax_function makes one of JAX an operation."
    ),
    **dict.fromkeys(
        ("data.experimental.StatsAggregator", "data.experimental.bytes_produced_stats", "data.experimental.latency_stats"),
        "weft.explain and `weft trace` tell where the time of steps and of their input goes.",
    ),
    **dict.fromkeys(
        ("LMDBReader", "contrib.data.LMDBDataset"),
        "tf.data.Dataset.from_generator takes what a library of Python reads, such as lmdb.",
    ),
}


def watch(module: ModuleType, public_name: str) -> None:
    """Have a public module show its public names only, and say more than Python does of those that it lacks.

    One that has a rule of its own keeps it.

    Args:
        module: the module.
        public_name: its name for programs below `tf`, such as `contrib.layers`; empty for weft itself.
    """
    if "__getattr__" not in vars(module):
        vars(module)["__getattr__"] = _asker(module, public_name)
    vars(module).setdefault("__dir__", lambda: shown_names(module))


def watch_loaded() -> None:
    """Watch all doors that are loaded by now."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_ENGINE_DOORS) and isinstance(module, ModuleType):
            watch(module, name.removeprefix(_ENGINE_DOORS))


def refuse(module: ModuleType, public_name: str, name: str) -> NoReturn:
    """Raise AttributeError for a name that a module lacks; ImportError to `from module import name`."""
    own = f"weft.{public_name}" if public_name else "weft"
    text = f"module {own!r} has no attribute {name!r}"
    frame = sys._getframe(2)
    if name.startswith("_") or frame.f_globals.get("__name__") == "importlib._bootstrap":
        # Asked by the interpreter or by a tool such as pytest, which go on looking: advice takes 20 ms.
        raise AttributeError(text)
    if frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] == _IMPORT_FROM:
        # Python would put a text of its own in the place of an AttributeError's.
        raise ImportError(
            f"cannot import name {name!r} from {module.__name__!r}.{advice(module, public_name, name)}", name=name
        )
    raise AttributeError(f"{text}.{advice(module, public_name, name)}")


def advice(module: ModuleType | None, public_name: str, name: str) -> str:
    """The sentences behind `... has no attribute ...`, with a leading blank; empty where there is nothing to say.

    Args:
        module: the module that lacks the name, where it is there at all.
        public_name: its name below `tf`.
        name: what is missing.
    """
    path = f"{public_name}.{name}".removeprefix(".").removeprefix("compat.v1.")
    if path in _RENAMED:
        return f" Use {_RENAMED[path]} in its place."
    if _is_tensorflows(path):
        reason = next(filter(None, map(_reason_for, _areas_of(path))), "")
        return f" TensorFlow has tf.{path}; weft does not.{f' {reason}' if reason else ''}"
    elsewhere = next(_places_of(name, module), "")
    if elsewhere:
        return f" There is tf.{elsewhere}."
    found = nearest(name, (each for each in dir(module) if not each.startswith("_"))) if module is not None else ""
    return f" Did you mean {found!r}?" if found else ""


def _is_tensorflows(path: str) -> bool:
    """Whether TensorFlow has a name that weft lacks, by itself or with a whole module."""
    return path in _lacking() or any(f"{area}." in _lacking() for area in _areas_of(path))


def _areas_of(path: str) -> Iterator[str]:
    """A path and the modules around it, the innermost first."""
    parts = path.split(".")
    return (".".join(parts[:count]) for count in range(len(parts), 0, -1))


def _reason_for(area: str) -> str:
    return _REASONS.get(area) or (f"Use {_RENAMED[area]} in its place." if area in _RENAMED else "")


@cache
def _lacking() -> frozenset[str]:
    return frozenset(_LACKING.read_text(encoding="utf-8").split())


def _places_of(name: str, asked: ModuleType | None) -> Iterator[str]:
    """Where else a public name stands, the shortest path first."""
    if name in vars(sys.modules.get("weft.namespace", sys.modules["weft"])) and asked is not sys.modules["weft"]:
        yield name
    on_demand.load_public()
    doors = [each for each in sys.modules if each.startswith(_ENGINE_DOORS)]
    for door in sorted(doors, key=lambda each: (each.count("."), "contrib" in each, each)):
        module = sys.modules[door]
        if module is not asked and not name.startswith("_") and name in vars(module):
            yield f"{door.removeprefix(_ENGINE_DOORS)}.{name}"


def _asker(module: ModuleType, public_name: str) -> Callable[[str], object]:
    def missing(name: str) -> object:
        if f"{public_name}.{name}" in contrib_paths.FURTHER:
            # `from PACKAGE import module`, of a module that is no file.
            return importlib.import_module(f"weft.{public_name}.{name}")
        refuse(module, public_name, name)

    return missing
