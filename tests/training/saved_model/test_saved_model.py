"""SavedModels are written and read, alone and in exchange with TensorFlow."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

_ORACLE = os.environ.get("WEFT_ORACLE_PYTHON", "")

# Run by either: the library's name, what to do, the folder.
_PROGRAM = """
import sys
if sys.argv[1] == "weft":
    import weft as tf
else:
    import tensorflow.compat.v1 as tf
    tf.disable_v2_behavior()
import numpy as np
folder, vocabulary = sys.argv[3:5]
X = np.arange(6, dtype=np.float32).reshape(2, 3)
if sys.argv[2] == "write":
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", initializer=np.ones([3, 2], np.float32) * 0.5)
    y = tf.matmul(x, w, name="y")
    path = tf.constant(vocabulary)
    tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, path)
    words = tf.placeholder(tf.string, [None], name="words")
    table = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(
        path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1)
    ids = tf.identity(table.lookup(words), name="ids")
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(w.assign(np.full([3, 2], 2.0, np.float32)))
        tf.saved_model.simple_save(session, folder, {"x": x}, {"y": y}, legacy_init_op=tf.tables_initializer())
else:
    with tf.Graph().as_default(), tf.Session() as session:
        model = tf.saved_model.loader.load(session, [tf.saved_model.tag_constants.SERVING], folder)
        signature = model.signature_def[tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY]
        fetched = session.run(signature.outputs["y"].name, {signature.inputs["x"].name: X})
        print(signature.method_name, fetched.tolist(), session.run("ids:0", {"words:0": [b"b", b"z"]}).tolist())
"""


def _run(python: str, library: str, what: str, folder: Path, vocabulary: Path) -> str:
    path = str(Path(__file__).parents[3]) if library == "weft" else ""
    command = [python, "-c", _PROGRAM, library, what, str(folder), str(vocabulary)]
    environment = {**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("writer", [pytest.param("weft"), pytest.param("tensorflow", marks=pytest.mark.oracle)])
@pytest.mark.parametrize("reader", [pytest.param("weft"), pytest.param("tensorflow", marks=pytest.mark.oracle)])
def test_a_model_gives_the_same_where_it_is_loaded(writer: str, reader: str, tmp_path: Path) -> None:
    if "tensorflow" in (writer, reader) and not _ORACLE:
        pytest.skip("WEFT_ORACLE_PYTHON names no Python that has TensorFlow")
    pythons = {"weft": sys.executable, "tensorflow": _ORACLE}
    vocabulary = tmp_path / "words.txt"
    vocabulary.write_text("a\nb\nc\n")
    _run(pythons[writer], writer, "write", tmp_path / "model", vocabulary)
    vocabulary.unlink()  # the model has its own
    printed = _run(pythons[reader], reader, "read", tmp_path / "model", vocabulary)
    assert printed.strip() == "tensorflow/serving/predict [[6.0, 6.0], [24.0, 24.0]] [1, -1]"


def _model(folder: Path, as_text: bool = False) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.Variable([1.0, 2.0], name="v")
    tf.multiply(x, v, name="y")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        builder = tf.saved_model.builder.SavedModelBuilder(str(folder))
        builder.add_meta_graph_and_variables(session, ["train"])
        builder.add_meta_graph(["serve", "small"])
        assert builder.save(as_text) == str(folder / ("saved_model.pbtxt" if as_text else "saved_model.pb")).encode()


@pytest.mark.parametrize("as_text", [False, True])
def test_a_model_has_graphs_by_tags(tmp_path: Path, as_text: bool) -> None:
    _model(tmp_path / "model", as_text)
    assert tf.saved_model.loader.maybe_saved_model_directory(str(tmp_path / "model"))
    for tags in (["train"], ["small", "serve"]):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.saved_model.load(session, tags, str(tmp_path / "model"))
            assert session.run("y:0", {"x:0": [3.0, 4.0]}).tolist() == [3.0, 8.0]
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, ["train"], str(tmp_path / "model"), import_scope="inner")
        assert session.run("inner/y:0", {"inner/x:0": [3.0, 4.0]}).tolist() == [3.0, 8.0]


def test_what_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    _model(tmp_path / "model")
    with tf.Session() as session:
        with pytest.raises(
            RuntimeError, match=r"tags \['serve'\] could not be found in SavedModel.*\['small', 'serve'\]|\['serve'"
        ):
            tf.saved_model.load(session, ["serve"], str(tmp_path / "model"))
        with pytest.raises(OSError, match="SavedModel file does not exist at"):
            tf.saved_model.load(session, ["serve"], str(tmp_path))
        (tmp_path / "model" / "saved_model.pb").write_bytes(b"\xff\xff\xff")
        with pytest.raises(OSError, match="Cannot parse file"):
            tf.saved_model.load(session, ["train"], str(tmp_path / "model"))


@pytest.mark.parametrize("lost", ["variables.index", "variables.*"])
def test_a_model_whose_variables_were_lost_is_refused(tmp_path: Path, lost: str) -> None:
    _model(tmp_path / "model")
    for each in (tmp_path / "model" / "variables").glob(lost):
        each.unlink()
    with tf.Session() as session, pytest.raises(ValueError, match=r"not a valid checkpoint: .*/model/variables/variables"):
        tf.saved_model.load(session, ["train"], str(tmp_path / "model"))


def test_what_cannot_be_saved_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(AssertionError, match="already exists, and isn't empty"):
        tf.saved_model.Builder(str(tmp_path))
    builder = tf.saved_model.Builder(str(tmp_path / "model"))
    with pytest.raises(AssertionError, match="has not been saved yet"):
        builder.add_meta_graph(["serve"])
    nameless: Any = tf.saved_model.build_signature_def({"x": tf.TensorInfo(dtype=1)}, {}, "m")
    with tf.Session() as session, pytest.raises(AssertionError, match="encoding"):
        builder.add_meta_graph_and_variables(session, ["serve"], {"s": nameless})


def test_signatures_are_checked_for_their_methods() -> None:
    text, numbers = tf.placeholder(tf.string, [None]), tf.placeholder(tf.float32, [None, 2])
    made = [
        tf.saved_model.predict_signature_def({"a": numbers}, {"b": numbers}),
        tf.saved_model.regression_signature_def(text, numbers),
        tf.saved_model.classification_signature_def(text, None, numbers),
    ]
    assert [each.method_name.rpartition("/")[2] for each in made] == ["predict", "regress", "classify"]
    assert all(tf.saved_model.is_valid_signature(each) for each in made)
    made[1].method_name = made[2].method_name
    assert not tf.saved_model.is_valid_signature(made[1])
    with pytest.raises(ValueError, match="must be of type string"):
        tf.saved_model.regression_signature_def(numbers, numbers)
    sparse = tf.sparse_placeholder(tf.float32, [3, 4])
    for tensor in (numbers, sparse):
        info = tf.saved_model.utils.build_tensor_info(tensor)
        found = tf.saved_model.utils.get_tensor_from_tensor_info(info)
        assert getattr(found, "name", None) == getattr(tensor, "name", None)
    assert np.array_equal(info.tensor_shape.dim[1].size, 4)


def test_an_operation_is_described_by_its_name() -> None:
    info = tf.saved_model.utils.build_tensor_info_from_op(tf.no_op("init"))
    assert (info.name, info.dtype, info.tensor_shape.unknown_rank) == ("init", 0, True)


def test_a_text_is_one_tag(tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.Variable(1.0).initializer)
        builder = tf.saved_model.builder.SavedModelBuilder(path)
        builder.add_meta_graph_and_variables(session, "serve")
        builder.save()
    for tags in ("serve", ["serve"]):
        with tf.Session(graph=tf.Graph()) as session:
            assert tf.saved_model.loader.load(session, tags, path).meta_info_def.tags == ["serve"]


def test_a_text_finds_a_model_that_has_its_letters_for_tags(tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.Variable(1.0).initializer)
        builder = tf.saved_model.builder.SavedModelBuilder(path)
        builder.add_meta_graph_and_variables(session, list("serve"))
        builder.save()
    with tf.Session(graph=tf.Graph()) as session:
        assert len(tf.saved_model.loader.load(session, "serve", path).meta_info_def.tags) == 5
