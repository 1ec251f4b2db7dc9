"""The inputs that `weft saved-model run` is given: from files, as expressions, or as examples."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
from tensorboard.compat.proto.meta_graph_pb2 import TensorInfo

from weft.framework.types.dtypes import as_dtype
from weft.proto.example_pb2 import Example

_FILE: Final = re.compile(r"([^\[]+)(?:\[([^\]]+)\])?")
# Literals, arithmetic, and calls and attributes of `np`: no names else, so that a pasted expression runs nothing of its own.
_PLAIN: Final = (
    ast.Expression, ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Call,
    ast.keyword, ast.Subscript, ast.Slice, ast.Load, ast.Attribute, ast.Name,
)  # fmt: skip
_FILE_FUNCTIONS: Final = {"load", "loadtxt", "genfromtxt", "fromfile", "memmap", "save", "savetxt", "savez", "tofile", "dump"}


def read_inputs(
    files: str, expressions: str, examples: str, described: Mapping[str, TensorInfo]
) -> dict[str, npt.NDArray[np.generic]]:
    """The arrays to feed, by the names that the signature gives its inputs.

    Args:
        files: `name=path` or `name=path[entry]`, separated by semicolons; .npy and .npz.
        expressions: `name=expression`, separated by semicolons.
        examples: `name=[{feature: list}]`, separated by semicolons; each dictionary becomes a serialized Example.
        described: the signature's inputs.

    Raises:
        ValueError: something of it is malformed, or names no input of the signature.
        OSError: a file cannot be read.
    """
    found: dict[str, object] = {}
    for name, text in _pairs("--inputs", files):
        found[name] = _from_file(name, text)
    for name, text in _pairs("--input_exprs", expressions):
        found[name] = _evaluated(name, text)
    for name, text in _pairs("--input_examples", examples):
        found[name] = _serialized_examples(name, text)
    for name in found:
        if name not in described:
            known = '", "'.join(sorted(described))
            raise ValueError(f'"{name}" is not a valid input key. Please choose from "{known}", or use `weft saved-model show`')
    return {name: _as_array(name, value, described[name]) for name, value in found.items()}


def _pairs(option: str, text: str) -> Iterator[tuple[str, str]]:
    for part in filter(None, (each.strip() for each in text.split(";"))):
        name, equals, value = part.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise ValueError(f"{option}: {part!r} is not of the form input=value")
        yield name.strip(), value.strip()


def _from_file(name: str, text: str) -> object:
    matched = _FILE.fullmatch(text)
    if matched is None:
        raise ValueError(f"--inputs: {name}={text!r} is not of the form input=FILE or input=FILE[NAME]")
    path, entry = matched.groups()
    loaded = _loaded(name, path)
    if not isinstance(loaded, np.lib.npyio.NpzFile):
        if entry is not None:
            raise ValueError(f"--inputs: {path} is a single array and has no entry {entry!r} for the input {name!r}")
        return loaded
    with loaded:
        if entry is None and len(loaded.files) != 1:
            raise ValueError(f"--inputs: {path} has the entries {loaded.files}; choose one: {name}={path}[{loaded.files[0]}]")
        if entry is not None and entry not in loaded.files:
            raise ValueError(f"--inputs: {path} has no entry {entry!r}, but {loaded.files}")
        return loaded[entry or loaded.files[0]]


def _loaded(name: str, path: str) -> object:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ValueError(
            f"--inputs: {path}, for the input {name!r}, is no .npy or .npz file of numbers or strings ({error}); write one by "
            f"numpy.save"
        ) from error


def _evaluated(name: str, text: str) -> object:
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        raise ValueError(f"--input_exprs: {name}={text!r} is no Python expression: {error.msg}") from error
    for node in ast.walk(tree):
        _check_node(name, text, node)
    try:
        return eval(compile(tree, "--input_exprs", "eval"), {"__builtins__": {}, "np": np})
    except Exception as error:
        raise ValueError(f"--input_exprs: {name}={text!r} cannot be computed: {error}") from error


def _check_node(name: str, text: str, node: ast.AST) -> None:
    strange = (
        not isinstance(node, _PLAIN)
        or (isinstance(node, ast.Name) and node.id != "np")
        or (isinstance(node, ast.Attribute) and (node.attr.startswith("_") or node.attr in _FILE_FUNCTIONS))
    )
    if strange:
        raise ValueError(
            f"--input_exprs: {name}={text!r} may have numbers, strings, lists, arithmetic and functions of np that compute; "
            f"{ast.unparse(node) or type(node).__name__} is none of these"
        )


def _serialized_examples(name: str, text: str) -> list[bytes]:
    try:
        described = ast.literal_eval(text)
    except (ValueError, SyntaxError) as error:
        raise ValueError(f"--input_examples: {name}={text!r} is no list of dictionaries") from error
    if not isinstance(described, list) or not all(isinstance(each, dict) for each in described):
        raise ValueError(f"tf.Example input must be a list of dictionaries, but {name} is {text}")
    return [_serialized(each) for each in described]


def _serialized(features: Mapping[str, object]) -> bytes:
    example = Example()
    for name, values in features.items():
        if not isinstance(values, list):
            raise ValueError(f'feature value must be a list, but {name}: "{values}" is {type(values)}')
        feature = example.features.feature[name]
        if all(isinstance(value, int) for value in values):
            feature.int64_list.value.extend(values)
        elif all(isinstance(value, int | float) for value in values):
            feature.float_list.value.extend(values)
        elif all(isinstance(value, str | bytes) for value in values):
            feature.bytes_list.value.extend(value.encode() if isinstance(value, str) else value for value in values)
        else:
            raise ValueError(f"the values of the feature {name!r} are neither all numbers nor all strings: {values}")
    return example.SerializeToString()


def _as_array(name: str, value: object, info: TensorInfo) -> npt.NDArray[np.generic]:
    dtype = as_dtype(info.dtype)
    try:
        return np.asarray(value, object if dtype.as_numpy_dtype is np.object_ else dtype.as_numpy_dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"the input {name!r} cannot be converted to {dtype.name}: {error}") from error
