"""Generate the Python modules of weft/proto from its .proto files: `make proto`.

The messages import those of the `tensorboard` package, which ships modules but neither sources nor types; protoc takes their
descriptors instead, and makes the stubs of weft/proto/tensorboard from them. The version of grpcio-tools decides which protobuf
runtimes can load the result.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import tensorboard.compat.proto
from google.protobuf import descriptor_pb2, descriptor_pool

_ROOT = Path(__file__).resolve().parent.parent
_PROTO = _ROOT / "weft" / "proto"
_STUBS = _PROTO / "tensorboard"
_THEIRS = "tensorboard/compat/proto/"


def _tensorboard_descriptors() -> descriptor_pb2.FileDescriptorSet:
    found = descriptor_pb2.FileDescriptorSet()
    pool = descriptor_pool.Default()
    done: set[str] = set()

    def add(name: str) -> None:
        if name in done:
            return
        done.add(name)
        file = pool.FindFileByName(name)
        for dependency in file.dependencies:
            add(dependency.name)
        file.CopyToProto(found.file.add())

    for module in pkgutil.iter_modules(tensorboard.compat.proto.__path__):
        if module.name.endswith("_pb2"):
            add(importlib.import_module(f"tensorboard.compat.proto.{module.name}").DESCRIPTOR.name)
    return found


def _needed(found: descriptor_pb2.FileDescriptorSet, names: Iterable[str]) -> list[str]:
    """The files of these names and all that they import."""
    files = {file.name: file for file in found.file}
    needed: dict[str, None] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name.startswith(_THEIRS) and name not in needed:
            needed[name] = None
            waiting.extend(files[name].dependency)
    return sorted(needed)


def _write_stubs(protoc: list[str], descriptors: descriptor_pb2.FileDescriptorSet) -> None:
    """Make the stubs of the messages that weft/proto/messages.py names, and the types of that module."""
    messages = (_PROTO / "messages.py").read_text(encoding="utf-8")
    names = [f"{_THEIRS}{name}.proto" for name in re.findall(r"^from tensorboard\.compat\.proto\.(\w+)_pb2 ", messages, re.M)]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*protoc, f"--pyi_out={folder}", *_needed(descriptors, names)], check=True)
        for stub in sorted((Path(folder) / _THEIRS).glob("*.pyi")):
            (_STUBS / stub.name).write_text(_renamed(stub.read_text(encoding="utf-8")), encoding="utf-8")
    (_STUBS / "__init__.pyi").touch()
    (_PROTO / "messages.pyi").write_text(_renamed(messages.partition('"""\n\n')[2]), encoding="utf-8")


def _renamed(text: str) -> str:
    return text.replace("from tensorboard.compat.proto", "from weft.proto.tensorboard")


def main() -> int:
    """Run protoc over every .proto file, and over the messages of others that the public API has."""
    sources = sorted(str(path.relative_to(_ROOT)) for path in _PROTO.glob("*.proto"))
    found = _tensorboard_descriptors()
    with tempfile.NamedTemporaryFile(suffix=".pb") as descriptors:
        descriptors.write(found.SerializeToString())
        descriptors.flush()
        protoc = [sys.executable, "-m", "grpc_tools.protoc", f"--descriptor_set_in={descriptors.name}"]
        ours = [f"--proto_path={_ROOT}", f"--python_out={_ROOT}", f"--pyi_out={_ROOT}", *sources]
        subprocess.run([*protoc, *ours], check=True)
        _write_stubs(protoc, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
