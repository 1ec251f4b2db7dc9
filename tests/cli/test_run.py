"""`weft run` runs a program written for TensorFlow, and so do the processes that it starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2

ROOT = Path(__file__).parents[2]


def run(*command: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=120, env=environment, check=False)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(
        """
import multiprocessing
import subprocess
import sys
from pathlib import Path

from tensorflow_estimator.python.estimator import estimator as estimator_module

import tensorflow as tf
import tensorflow.compat.v1 as tf1
import tensorflow_estimator
import tensorflow.contrib.slim as slim
from six.moves import xrange
from tensorflow.contrib import layers
from tensorflow.core.framework import graph_pb2
from tensorflow.python.ops import array_ops
from tensorflow_core.python.framework import ops
from tensorflow_estimator.contrib.estimator.python.estimator import early_stopping

def version(queue):
    queue.put(tf.__version__)

if __name__ == "__main__":
    print(tf.__version__, sys.argv[1:], Path(sys.argv[0]).name)
    print(array_ops.concat is tf.concat, tf1.Session is tf.Session, graph_pb2.GraphDef is tf.GraphDef)
    print(estimator_module.Estimator is tf.estimator.Estimator is tensorflow_estimator.estimator.Estimator)
    print(ops.Graph is tf.Graph, early_stopping.stop_if_lower_hook is tf.contrib.estimator.stop_if_lower_hook)
    print(subprocess.check_output([sys.executable, "-c", "import tensorflow; print(tensorflow.VERSION)"], text=True).strip())
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=version, args=(queue,))
    process.start()
    print(queue.get())
    process.join()
    sys.exit(7)
"""
    )
    return path


@pytest.mark.parametrize("command", [("-m", "weft.cli", "run"), ("-m", "weft.compat")])
def test_a_program_and_its_processes_find_weft_under_tensorflows_names(program: Path, command: tuple[str, ...]) -> None:
    done = run(*command, str(program), "--flag=1", "rest")
    assert done.returncode == 7, done.stderr
    assert done.stdout.splitlines() == [
        "1.15.0 ['--flag=1', 'rest'] program.py",
        "True True True",
        "True",
        "True True",
        "1.15.0",
        "1.15.0",
    ]


def test_a_module_that_weft_lacks_is_named(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import tensorflow.contrib.nonsense")
    done = run("-m", "weft.cli", "run", str(program))
    assert done.returncode == 1
    assert "weft stands for TensorFlow here, and has no module 'weft.contrib.nonsense'" in done.stderr


def test_a_program_that_is_not_there_is_an_error_of_the_command(tmp_path: Path) -> None:
    done = run("-m", "weft.cli", "run", str(tmp_path / "none.py"))
    assert done.returncode == 2
    assert "does not exist" in done.stderr


def test_a_program_finds_what_python_and_numpy_have_dropped(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        """
from collections import Mapping, namedtuple
from distutils.version import LooseVersion
from fractions import gcd
import base64, imp, inspect, json, os, threading, time
import numpy as np

def early(kind=np.float): pass

import tensorflow as tf

assert isinstance({}, Mapping)
assert inspect.getargspec(lambda a, b=1, *c, **d: 0) == (["a", "b"], "c", "d", (1,))
assert time.clock() >= 0
assert LooseVersion(tf.VERSION) >= LooseVersion("1.4.0") and imp.reload is not None
assert gcd(12, 18) == 6 and json.loads("[1]", encoding="utf-8") == [1] and os.errno.ENOENT == 2
assert base64.decodestring(base64.encodestring(b"a")) == b"a" and not threading.Thread().isAlive()
picture = np.arange(6, dtype=np.uint8).reshape(2, 3)
assert (np.fromstring(picture.tostring(), dtype=np.uint8) == picture.ravel()).all()
assert np.array([1, 2], copy=False).tolist() == [1, 2] and np.array(picture, copy=False) is picture
assert np.fromstring("1 2", sep=" ").tolist() == [1, 2] and np.float32(1).tostring() == b"\\0\\0\\x80?"
steps = np.array([[np.zeros(4), 1, 0.5], [np.ones(4), 0, 1.5]])
assert (steps.dtype, steps.shape, np.vstack(steps[:, 0]).shape) == (object, (2, 3), (2, 4))
assert [each.size for each in np.array([np.zeros(2), np.zeros(3)])] == [2, 3]
assert [each.size for each in np.asarray([np.zeros(2), np.zeros(3)])] == [2, 3]
goals = np.resize([1.0, np.full(1, 2.0), 3.0], [3, 1])
assert goals.shape == np.reshape([1.0, np.full(1, 2.0), 3.0], (3, 1)).shape and goals.astype(float).sum() == 6
try:
    tf.constant([[1, 2], [3]])
except ValueError as error:
    assert "dense tensor" in str(error), error
assert picture.ptp() == 5 and np.lib.pad is np.pad and np.in1d([[1, 2]], [2]).tolist() == [False, True]
assert np.reshape(picture, newshape=[3, 2]).shape == (3, 2) == np.vstack(row for row in picture).T.shape
assert np.percentile(picture, 50, interpolation="lower") == 2 and np.array(picture, np.float32, copy=False).size == 6
assert np.find_common_type([np.float32], [np.float64]) == np.float32 and np.asfarray([1]).dtype == np.float64
assert picture.newbyteorder().dtype == np.uint8 and np.msort([[2], [1]])[0, 0] == 1 and np.mat([[1]]).shape == (1, 1)
picture.itemset((1, 2), 9), picture.itemset(0, 7), picture.itemset(0, 1, 8)
assert picture.tolist() == [[7, 8, 2], [3, 4, 9]]
assert (int(np.full([1, 1], 3.5)), float(np.ones(1)), "%d" % np.ones([1], int)) == (3, 1.0, "1")
totals = np.zeros(2)
totals[0], totals[1] = np.ones([1, 1]), np.array([2])
assert totals.tolist() == [1, 2] and int(np.array(4)) == 4 and float(np.ma.array([5.0])) == 5
try:
    int(np.ones(2))
except TypeError as error:
    assert "only size-1 arrays" in str(error), error
thread = threading.Thread(target=lambda: print([np.float32(1.5), np.int64(2)], (np.bool_(True),)))
thread.start(), thread.join()
x = tf.placeholder(np.float, [None])
with tf.Session() as session:
    found = session.run(tf.cast(x, np.int), {x: np.zeros(2, np.float_)})
print(found.dtype, np.asscalar(found[:1]), np.NaN != np.NaN, np.product([2, 3]), np.array([1], np.bool))
"""
    )
    (tmp_path / "sitecustomize.py").write_text("print('mine')")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])}
    command = [sys.executable, "-m", "weft.cli", "run", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["[1.5, 2] (True,)", "int32 0 True 6 [ True]"]
    assert "mine" in done.stdout


def test_a_program_finds_what_pillow_has_dropped(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    program = tmp_path / "program.py"
    program.write_text(
        """
from PIL import Image, ImageDraw, ImageFont

picture = Image.new("RGB", (8, 8)).resize((4, 4), Image.ANTIALIAS)
width, height = ImageFont.load_default().getsize("word")
assert ImageDraw.Draw(picture).textsize("word\\nword")[1] > height > 0
assert (Image.LINEAR, Image.CUBIC) == (Image.BILINEAR, Image.BICUBIC)
print(picture.size, width > 0)
"""
    )
    done = run("-m", "weft.cli", "run", str(program))
    assert done.stdout == "(4, 4) True\n", done.stderr


def test_numpy_is_as_it_is_without_the_command() -> None:
    done = run("-c", "import weft, numpy; weft.Graph; print('float_' in vars(numpy))")
    assert done.stdout == "False\n", done.stderr


def test_a_program_finds_modules_that_a_former_compiler_of_messages_made(tmp_path: Path) -> None:
    file = descriptor_pb2.FileDescriptorProto(name="former/note.proto", package="former", syntax="proto3")
    file.dependency.append("tensorflow/core/framework/tensor.proto")
    note = file.message_type.add(name="Note")
    note.field.add(name="pitch", number=1, type="TYPE_INT32", label="LABEL_OPTIONAL")
    note.field.add(name="value", number=2, type="TYPE_MESSAGE", label="LABEL_OPTIONAL", type_name=".tensorflow.TensorProto")
    note.enum_type.add(name="Key").value.add(name="C", number=0)
    packed = file.SerializeToString().decode("latin1")
    (tmp_path / "note_pb2.py").write_text(
        f"""
import sys
_b = sys.version_info[0] < 3 and (lambda x: x) or (lambda x: x.encode('latin1'))
from google.protobuf import descriptor as _descriptor
from tensorflow.core.framework import tensor_pb2 as tensorflow_dot_core_dot_framework_dot_tensor__pb2
DESCRIPTOR = _descriptor.FileDescriptor(name='former/note.proto', package='former', serialized_pb=_b({packed!r}))
_NOTE = _descriptor.Descriptor(name='Note', full_name='former.Note', filename=None, file=DESCRIPTOR, fields=[
  _descriptor.FieldDescriptor(name='pitch', full_name='former.Note.pitch', index=0, number=1, type=5, cpp_type=1, label=1)])
"""
    )
    (tmp_path / "program.py").write_text(
        """
import pydoc
import note_pb2
import tensorflow as tf
note = note_pb2.Note(pitch=3, value=tf.make_tensor_proto([1, 2]))
print(note_pb2.Note.FromString(note.SerializeToString()).pitch, note_pb2.Note.C, tf.make_ndarray(note.value))
print(pydoc.locate("tensorflow.train.AdamOptimizer") is tf.train.AdamOptimizer, pydoc.locate("tensorflow.contrib.rnn.Nothing"))
"""
    )
    result = run("-m", "weft.cli", "run", str(tmp_path / "program.py"))
    assert result.stdout.splitlines() == ["3 0 [1 2]", "True None"], result.stderr
