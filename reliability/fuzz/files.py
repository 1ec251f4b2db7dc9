"""Mutated files of the other kinds that programs give weft: records, graphs, models, pictures, sounds, tables, jobs."""

from __future__ import annotations

import importlib
import io
import os
import random
import shutil
import tempfile
import wave
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import yaml

import weft as tf
from reliability.fuzz.byte_mutation import mutate
from weft.errors import InternalError, OpError, UnknownError
from weft.jobs.description import JobError
from weft.jobs.job_file import read_job

_JOB: Final = b'program = "train.py"\narguments = ["--steps=10"]\n[roles.ps]\ncount = 2\nmemory = "8Gi"\n[restart]\nlimit = 3\n'
_CONFIG: Final = b'{"cluster": {"ps": ["localhost:1"], "chief": ["localhost:2"]}, "task": {"type": "ps", "index": 0}}'


@dataclass(frozen=True)
class Kind:
    """A kind of file: a good one, how it is read, and what may be raised beside TensorFlow's errors.

    Errors name the file, except where weft is given its content and not its path: there `is_named` is false.
    """

    good: bytes
    read: Callable[[str], object]
    suffix: str = ""
    others: tuple[type[Exception], ...] = ()
    is_named: bool = True


class Files:
    """Reads a changed file of one of the kinds."""

    name = "files"

    def __init__(self, only: str = "") -> None:
        self._path = Path(tempfile.mkdtemp(prefix="weft-fuzz-"))
        self.kinds = [name for name in MAKERS if name == only or not only]
        self._made = [MAKERS[name](self._path) for name in self.kinds]
        tf.logging.set_verbosity(tf.logging.FATAL)

    def make(self, source: random.Random) -> bytes:
        """Make the number of a kind, one byte, and its changed content."""
        at = source.randrange(len(self.kinds))
        return bytes([at]) + _damaged(source, self._made[at].good)

    def run(self, data: bytes) -> str:
        """Write the file and read it."""
        kind = self._made[data[0]]
        directory = self._path / "read"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        path = directory / (kind.suffix if "." in kind.suffix[1:] else f"file{kind.suffix}")
        path.write_bytes(data[1:])
        try:
            with tf.Graph().as_default():
                kind.read(str(path))
        except (OpError, *kind.others) as error:
            text = "\n".join([error.message if isinstance(error, OpError) else str(error), *getattr(error, "__notes__", ())])
            if (
                isinstance(error, InternalError | UnknownError)
                or len(text) < 15
                or (kind.is_named and str(directory) not in text)
            ):
                raise
            return type(error).__name__
        return "accepted"

    def close(self) -> None:
        """Remove the files."""
        tf.logging.set_verbosity(tf.logging.WARN)
        shutil.rmtree(self._path, ignore_errors=True)


def _damaged(source: random.Random, data: bytes) -> bytes:
    """Changed bytes, or what a disk and a broken copy do to whole blocks."""
    choice = source.randrange(8)
    block = source.choice((16, 64, 512))
    at = source.randrange(max(len(data), 1))
    if choice == 0:
        return data[:at]
    if choice == 1:
        return data[:at] + bytes(block) + data[at + block :]
    if choice == 2:
        return data + source.choice((data, bytes(block), source.randbytes(block)))
    if choice == 3:
        return data[at:] + data[:at]
    return mutate(source, data)


def _run(make: Callable[[str], Any]) -> Callable[[str], object]:
    def read(path: str) -> object:
        with tf.Session() as session:
            return session.run(make(path))

    return read


def _all_of(make: Callable[[str], Any]) -> Callable[[str], object]:
    """Read all elements of a dataset."""

    def read(path: str) -> object:
        following = make(path).make_one_shot_iterator().get_next()
        elements = []
        with tf.Session() as session:
            while True:
                try:
                    elements.append(session.run(following))
                except tf.errors.OutOfRangeError:
                    return elements

    return read


def _records(compression: str) -> Callable[[Path], Kind]:
    def make(at: Path) -> Kind:
        options = tf.python_io.TFRecordOptions(compression)
        with tf.python_io.TFRecordWriter(str(at / "records"), options) as writer:
            for number in range(5):
                writer.write(b"record %d " % number * 10)
        return Kind((at / "records").read_bytes(), lambda path: list(tf.python_io.tf_record_iterator(path, options)))

    return make


def _events(at: Path) -> Kind:
    with tf.summary.FileWriter(str(at / "events")) as writer:
        for step in range(3):
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=step)]), step)
    (path,) = (at / "events").iterdir()
    return Kind(path.read_bytes(), lambda path: list(tf.train.summary_iterator(path)))


def _small_graph() -> Any:
    weight = tf.get_variable("weight", initializer=tf.ones([2, 2]))
    return tf.matmul(tf.placeholder(tf.float32, [None, 2], name="x"), weight, name="y")


def _meta(at: Path) -> Kind:
    with tf.Graph().as_default(), tf.Session() as session:
        _small_graph()
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(at / "model"))
    # 1.15 raises these for nodes and collections that it cannot take in.
    others = (ValueError, KeyError, TypeError, OSError)
    return Kind((at / "model.meta").read_bytes(), tf.train.import_meta_graph, ".meta", others)


def _checkpoint_v1(at: Path) -> Kind:
    with tf.Graph().as_default(), tf.Session() as session:
        _small_graph()
        session.run(tf.global_variables_initializer())
        tf.train.Saver(write_version=tf.train.SaverDef.V1).save(session, str(at / "old"), write_meta_graph=False)
    return Kind((at / "old").read_bytes(), lambda path: tf.train.NewCheckpointReader(path).get_tensor("weight"))


def _saved_model(as_text: bool) -> Callable[[Path], Kind]:
    def make(at: Path) -> Kind:
        where, name = str(at / f"saved{as_text}"), "saved_model.pbtxt" if as_text else "saved_model.pb"
        with tf.Graph().as_default(), tf.Session() as session:
            tf.placeholder(tf.float32, [2], name="x")
            builder = tf.saved_model.builder.SavedModelBuilder(where)
            builder.add_meta_graph_and_variables(session, ["serve"])
            builder.save(as_text)

        def read(path: str) -> object:
            with tf.Session() as session:
                return tf.saved_model.loader.load(session, ["serve"], os.path.dirname(path))

        return Kind(Path(where, name).read_bytes(), read, name, (OSError, RuntimeError, ValueError, KeyError, TypeError))

    return make


def _model() -> Any:
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


def _hdf5(at: Path) -> Kind:
    with tf.Graph().as_default():
        _model().save(str(at / "model.h5"))
    others = (OSError, ValueError, KeyError, TypeError, RuntimeError)
    return Kind((at / "model.h5").read_bytes(), tf.keras.models.load_model, ".h5", others)


def _model_text(form: str) -> Callable[[Path], Kind]:
    def make(at: Path) -> Kind:
        with tf.Graph().as_default():
            text = getattr(_model(), f"to_{form}")()
        read = getattr(tf.keras.models, f"model_from_{form}")
        others = (ValueError, TypeError, KeyError, yaml.YAMLError)
        return Kind(text.encode(), lambda path: read(Path(path).read_text(errors="replace")), "", others, False)

    return make


def _picture(form: str) -> Callable[[Path], Kind]:
    def make(at: Path) -> Kind:
        images = importlib.import_module("PIL.Image")
        with io.BytesIO() as file:
            images.fromarray(np.arange(192, dtype=np.uint8).reshape(8, 8, 3)).save(file, form)
            good = file.getvalue()
        return Kind(good, _run(lambda path: tf.image.decode_image(tf.read_file(path))), is_named=False)

    return make


def _sound(at: Path) -> Kind:
    with io.BytesIO() as file:
        with wave.open(file, "wb") as sound:
            sound.setparams((1, 2, 8000, 0, "NONE", ""))
            sound.writeframes(bytes(range(100)))
        good = file.getvalue()
    return Kind(good, _run(lambda path: tf.audio.decode_wav(tf.read_file(path)).audio), is_named=False)


def _vocabulary(at: Path) -> Kind:
    def read(path: str) -> object:
        table = tf.contrib.lookup.index_table_from_file(path, num_oov_buckets=1)
        found = table.lookup(tf.constant(["a", "zz"]))
        with tf.Session() as session:
            session.run(tf.tables_initializer())
            return session.run(found)

    return Kind("a\nbb\nä\n".encode(), read)


def _cluster(path: str) -> object:
    before = os.environ.get("TF_CONFIG")
    # The environment holds text without NULs.
    os.environ["TF_CONFIG"] = Path(path).read_text(errors="replace").replace("\0", " ").encode(errors="replace").decode()
    try:
        return tf.estimator.RunConfig()
    finally:
        if before is None:
            del os.environ["TF_CONFIG"]
        else:
            os.environ["TF_CONFIG"] = before


MAKERS: Final[dict[str, Callable[[Path], Kind]]] = {
    "records": _records(""),
    "gzip_records": _records("GZIP"),
    "zlib_records": _records("ZLIB"),
    "record_dataset": lambda at: Kind(_records("")(at).good, _all_of(tf.data.TFRecordDataset)),
    "events": _events,
    "meta": _meta,
    "checkpoint_v1": _checkpoint_v1,
    "saved_model": _saved_model(False),
    "saved_model_text": _saved_model(True),
    "hdf5": _hdf5,
    "model_json": _model_text("json"),
    "model_yaml": _model_text("yaml"),
    **{form.lower(): _picture(form) for form in ("JPEG", "PNG", "GIF", "BMP")},
    "wav": _sound,
    "vocabulary": _vocabulary,
    "csv": lambda at: Kind(b"1,2.5,a\n3,,b\n", _all_of(lambda path: tf.data.experimental.CsvDataset(path, [1, 2.0, ""]))),
    "cluster": lambda at: Kind(_CONFIG, _cluster, "", (ValueError, TypeError), False),
    "job": lambda at: Kind(_JOB, lambda path: read_job(path), ".toml", (JobError, OSError)),
}
"""The kinds by name."""
