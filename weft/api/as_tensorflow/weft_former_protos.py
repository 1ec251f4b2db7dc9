"""Modules that a protobuf compiler of TensorFlow 1's time made, `*_pb2.py`, which the protobuf of today refuses to run.

Such a module has its file's description twice: packed in bytes, and as calls that build it once more. What it defines is made
of the bytes.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

_FORMER = ("_descriptor.FieldDescriptor(", "_descriptor.Descriptor(", "_reflection.GeneratedProtocolMessageType(")


class _FormerProtos(MetaPathFinder, Loader):
    """Finds those modules, and makes what they define."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not fullname.endswith("_pb2") or fullname.startswith("google.protobuf."):
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
            return None
        source = Path(spec.origin).read_text(encoding="utf-8")
        if not any(word in source for word in _FORMER):
            return None
        spec.loader, spec.loader_state = self, source
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        spec = module.__spec__
        assert spec is not None
        tree = ast.parse(spec.loader_state)
        names = vars(module)
        # The files that this one uses are known to protobuf once their modules are loaded.
        body: list[ast.stmt] = [
            each for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom) and _is_of_messages(each)
        ]
        exec(compile(ast.Module(body, []), str(spec.origin), "exec"), names)
        pool = importlib.import_module("google.protobuf.descriptor_pool").Default()
        builder = importlib.import_module("google.protobuf.internal.builder")
        packed = next(_packed_files(tree), None)
        if packed is None:
            raise ImportError(f"{spec.origin} holds no packed description of its messages; compile its .proto file again.")
        names["DESCRIPTOR"] = pool.AddSerializedFile(_of_present_files(packed))
        builder.BuildMessageAndEnumDescriptors(names["DESCRIPTOR"], names)
        builder.BuildTopDescriptorsAndMessages(names["DESCRIPTOR"], module.__name__, names)


def _of_present_files(packed: bytes) -> bytes:
    """The description with TensorFlow's own files, which it may use, replaced by those of the package that ships them."""
    if b"tensorflow/core/" not in packed:
        return packed
    file = importlib.import_module("google.protobuf.descriptor_pb2").FileDescriptorProto.FromString(packed)
    found: dict[str, str] = {}
    for index, name in enumerate(file.dependency):
        if name.startswith("tensorflow/core/"):
            stem = name.rpartition("/")[2].removesuffix(".proto")
            theirs = importlib.import_module(f"tensorboard.compat.proto.{stem}_pb2").DESCRIPTOR
            file.dependency[index] = theirs.name
            types = (*theirs.message_types_by_name, *theirs.enum_types_by_name)
            found.update({each: f".{theirs.package}.{each}" for each in types})
    waiting = list(file.message_type)
    while waiting:
        message = waiting.pop()
        waiting.extend(message.nested_type)
        for field in message.field:
            first, _, rest = field.type_name.removeprefix(".tensorflow.").partition(".")
            if field.type_name.startswith(".tensorflow.") and first in found:
                field.type_name = found[first] + (f".{rest}" if rest else "")
    return bytes(file.SerializeToString())


def _is_of_messages(statement: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(statement, ast.ImportFrom) and (statement.module or "").endswith("_pb2"):
        return True
    return all(each.name.endswith("_pb2") for each in statement.names)


def _packed_files(tree: ast.Module) -> Iterator[bytes]:
    """What the module's description of its file is given as bytes, by whichever compiler."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        given = [each.value for each in node.keywords if each.arg == "serialized_pb"]
        if node.func.attr == "AddSerializedFile":
            given = node.args[:1]
        elif node.func.attr != "FileDescriptor":
            continue
        for each in given:
            # The bytes, or a call that makes them of a text for both Pythons.
            literal = each.args[0] if isinstance(each, ast.Call) else each
            if isinstance(literal, ast.Constant) and isinstance(literal.value, str | bytes):
                yield literal.value if isinstance(literal.value, bytes) else literal.value.encode("latin1")


def install() -> None:
    """Let every later import in this process find them."""
    sys.meta_path.insert(0, _FormerProtos())
