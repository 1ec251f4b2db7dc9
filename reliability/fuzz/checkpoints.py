"""Mutated checkpoint files, as a Saver or a reader finds them."""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path
from typing import ClassVar, Final

import weft as tf
from reliability.fuzz.byte_mutation import mutate
from weft.errors import InternalError, OpError, UnknownError

_STATE: Final = "checkpoint"


class Checkpoints:
    """Reads a checkpoint of which one file is changed: index, data, or the state file that names the newest."""

    name = "checkpoints"
    version: ClassVar[int] = tf.train.SaverDef.V2

    def __init__(self) -> None:
        self._path = Path(tempfile.mkdtemp(prefix="weft-fuzz-"))
        with tf.Graph().as_default(), tf.Session() as session:
            tf.get_variable("a", initializer=tf.ones([3, 4]))
            tf.get_variable("b/c", initializer=tf.constant(["x", "yz" * 40]))
            tf.get_variable("d", initializer=tf.constant(3, tf.int64))
            tf.get_variable("parts", [6, 2], partitioner=tf.fixed_size_partitioner(3))
            session.run(tf.global_variables_initializer())
            saver = tf.train.Saver(write_version=self.version)
            self._prefix = saver.save(session, str(self._path / "model"), global_step=7)
        self._files = {
            path.name: path.read_bytes() for path in sorted(self._path.iterdir()) if path.suffix != ".meta"
        }  # fmt: skip
        self._names = sorted(self._files)
        # The table of what there is: in the V1 format a checkpoint's only file beside the state.
        ends = ".index" if self.version == tf.train.SaverDef.V2 else Path(self._prefix).name
        self._table = next(number for number, name in enumerate(self._names) if name.endswith(ends))
        self._spoiled = ""

    def make(self, source: random.Random) -> bytes:
        """Make the number of a file, one byte, and its changed content."""
        # The table decides more than the data.
        at = self._table if source.random() < 0.6 else source.randrange(len(self._names))
        return bytes([at]) + mutate(source, self._files[self._names[at]], list(self._files.values()))

    def run(self, data: bytes) -> str:
        """Write the file, and read everything that the checkpoint holds."""
        name = self._names[data[0]]
        if self._spoiled and self._spoiled != name:
            (self._path / self._spoiled).write_bytes(self._files[self._spoiled])
        self._spoiled = name
        (self._path / name).write_bytes(data[1:])
        try:
            return self._read_state() if name == _STATE else self._read_tensors()
        except OpError as error:
            if isinstance(error, InternalError | UnknownError) or len(error.message) < 15:
                raise
            return type(error).__name__

    def _read_state(self) -> str:
        try:
            return "accepted" if tf.train.latest_checkpoint(str(self._path)) else "ignored"
        except ValueError as error:
            # TensorFlow's answer to a state without a path.
            if "Invalid checkpoint state" in str(error):
                return "ValueError"
            raise

    def _read_tensors(self) -> str:
        reader = tf.train.NewCheckpointReader(self._prefix)
        for tensor in reader.get_variable_to_shape_map():
            reader.get_tensor(tensor)
        reader.debug_string()
        return "accepted"

    def close(self) -> None:
        """Remove the files."""
        shutil.rmtree(self._path, ignore_errors=True)
