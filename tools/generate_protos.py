"""Generate the Python modules of weft/proto from its .proto files: `make proto`.

The messages import those of the `tensorboard` package, which ships modules but no sources; protoc takes their descriptors
instead. The version of grpcio-tools decides which protobuf runtimes can load the result.
"""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
import tempfile
from pathlib import Path

import tensorboard.compat.proto
from google.protobuf import descriptor_pb2, descriptor_pool

_ROOT = Path(__file__).resolve().parent.parent


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


def main() -> int:
    """Run protoc over every .proto file; returns its exit code."""
    sources = sorted(str(path.relative_to(_ROOT)) for path in (_ROOT / "weft" / "proto").glob("*.proto"))
    with tempfile.NamedTemporaryFile(suffix=".pb") as descriptors:
        descriptors.write(_tensorboard_descriptors().SerializeToString())
        descriptors.flush()
        command = [
            sys.executable,
            "-m",
            "grpc_tools.protoc",
            f"--descriptor_set_in={descriptors.name}",
            f"--proto_path={_ROOT}",
        ]
        return subprocess.run([*command, f"--python_out={_ROOT}", f"--pyi_out={_ROOT}", *sources], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
