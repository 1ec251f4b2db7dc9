"""Files of every kind, damaged in every way, are errors that name the file: never one of Python's or protobuf's own."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import weft as tf
from weft.checkpoint.table import Table, TableWriter

# What the importer and collections raise, as TensorFlow's do; anything derived from them is none of its errors.
_AS_TENSORFLOW = (ValueError, KeyError)


class Kind(NamedTuple):
    """A file below the folder, and how a program reads it."""

    name: str
    load: Callable[[str], object]


def load_meta_graph(path: str) -> None:
    with tf.Graph().as_default():
        tf.train.import_meta_graph(path)


def load_saved_model(path: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.loader.load(session, ["serve"], path.partition("/saved_model")[0].partition("/variables")[0])


def load_checkpoint(path: str) -> None:
    prefix = path.removesuffix(".index").removesuffix(".data-00000-of-00001")
    reader = tf.train.NewCheckpointReader(prefix)
    reader.debug_string()
    for name in reader.get_variable_to_shape_map():
        reader.get_tensor(name)


def load_records(path: str) -> None:
    kind = tf.python_io.TFRecordCompressionType.GZIP if path.endswith("gz") else tf.python_io.TFRecordCompressionType.NONE
    list(tf.python_io.tf_record_iterator(path, tf.python_io.TFRecordOptions(kind)))


def load_vocabulary(path: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        source = tf.contrib.lookup.TextFileInitializer(path, tf.string, 0, tf.int64, 1, vocab_size=12, delimiter="\t")
        table = tf.contrib.lookup.HashTable(source, -1)
        session.run(tf.tables_initializer())
        session.run(table.size())


KINDS = {
    "binary meta graph": Kind("binary.meta", load_meta_graph),
    "text meta graph": Kind("text.meta", load_meta_graph),
    "SavedModel": Kind("binary/saved_model.pb", load_saved_model),
    "SavedModel of text": Kind("text/saved_model.pbtxt", load_saved_model),
    "SavedModel's variables": Kind("binary/variables/variables.index", load_saved_model),
    "checkpoint V1": Kind("one", load_checkpoint),
    "checkpoint V2's index": Kind("two.index", load_checkpoint),
    "checkpoint V2's data": Kind("two.data-00000-of-00001", load_checkpoint),
    "events": Kind("events", lambda path: list(tf.train.summary_iterator(path))),
    "TFRecord": Kind("records", load_records),
    "TFRecord of GZIP": Kind("records.gz", load_records),
    "vocabulary": Kind("vocabulary", load_vocabulary),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        weights = tf.get_variable("net/w", [2, 3])
        tf.Variable([b"a", b"bc"], name="strings")
        tf.Variable(1, name="global_step", collections=[tf.GraphKeys.GLOBAL_STEP, tf.GraphKeys.GLOBAL_VARIABLES])
        y = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.matmul(x, weights), lambda: tf.zeros([1, 3]), name="y")
        session.run(tf.global_variables_initializer())
        for version, name in ((1, "one"), (2, "two")):
            tf.train.Saver(write_version=version).save(session, str(folder / name), write_meta_graph=False)
        saver = tf.train.Saver()
        for name in ("binary", "text"):
            saver.export_meta_graph(str(folder / f"{name}.meta"), as_text=name == "text")
            builder = tf.saved_model.builder.SavedModelBuilder(str(folder / name))
            signature = tf.saved_model.signature_def_utils.predict_signature_def({"x": x}, {"y": y})
            builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
            builder.save(as_text=name == "text")
        with tf.summary.FileWriter(str(folder / "log"), graph) as writer:
            for step in range(3):
                writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=0.5)]), step)
    next((folder / "log").iterdir()).rename(folder / "events")
    gzip = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)
    for name, options in (("records", None), ("records.gz", gzip)):
        with tf.python_io.TFRecordWriter(str(folder / name), options) as writer:
            for number in range(12):
                writer.write(bytes(range(number)))
    (folder / "vocabulary").write_text("".join(f"word{number}\t{number}\n" for number in range(12)))
    return folder


def damaged(data: bytes, rng: random.Random) -> bytes:
    """The bytes cut off, overwritten, with lengths without end, with pieces lost or put in, or with one bit turned."""
    changed = bytearray(data)
    place = rng.randrange(len(changed))
    match rng.randrange(6):
        case 0:
            del changed[place:]
        case 1:
            changed[place] = rng.randrange(256)
        case 2:
            changed[place : place + rng.randrange(1, 12)] = b"\xff" * rng.randrange(1, 12)
        case 3:
            changed[place : place + 8] = rng.choice((b"\0" * 8, b"\xff" * 9 + b"\1", rng.randbytes(30)))
        case 4:
            del changed[place : place + rng.randrange(1, 100)]
        case _:
            changed[place] ^= 1 << rng.randrange(8)
    return bytes(changed)


def check_error(error: Exception, name: str) -> None:
    assert isinstance(error, tf.errors.OpError) or type(error) in _AS_TENSORFLOW, repr(error)
    # A SavedModel is named by its folder, a data file by its checkpoint.
    assert any(part in str(error) for part in (name, name.partition("/")[0], name.partition(".")[0])), str(error)


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_an_error_that_names_it(files: Path, kind: str) -> None:
    name, load = KINDS[kind]
    path = files / name
    whole = path.read_bytes()
    load(str(path))
    rng = random.Random(kind)
    refused = 0
    try:
        for _ in range(40):
            path.write_bytes(damaged(whole, rng))
            try:
                load(str(path))
            except Exception as error:
                check_error(error, name)
                refused += 1
    finally:
        path.write_bytes(whole)
    # Some damage shows nowhere: a letter of a name, a bit of a number that nothing guards.
    assert refused >= 25


@pytest.mark.parametrize("kind", ["checkpoint V1", "checkpoint V2's index"])
def test_damage_under_a_checksum_that_fits_is_found_as_well(files: Path, kind: str) -> None:
    name, load = KINDS[kind]
    path = files / name
    whole = path.read_bytes()
    items = list(Table(whole, str(path)).items())
    rng = random.Random(kind)
    refused = 0
    try:
        for _ in range(80):
            number = rng.randrange(len(items))
            key, value = items[number]
            with path.open("wb") as file:
                writer = TableWriter(file)
                for each in sorted({**dict(items), key: damaged(value, rng)}.items()):
                    writer.add(*each)
                writer.finish()
            try:
                load(str(path))
            except tf.errors.OpError as error:
                check_error(error, name)
                refused += 1
    finally:
        path.write_bytes(whole)
    assert refused >= 60


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "vocabulary"])
def test_an_empty_file_or_a_folder_in_its_place_is_an_error(files: Path, kind: str) -> None:
    name, load = KINDS[kind]
    path = files / name
    aside = path.rename(f"{path}.aside")
    try:
        path.touch()
        # Of records there may be none at all.
        if not name.startswith(("records", "events")):
            with pytest.raises(tf.errors.OpError, match=r".") as failed:
                load(str(path))
            check_error(failed.value, name)
        path.unlink()
        path.mkdir()
        with pytest.raises(tf.errors.OpError, match=r".") as failed:
            load(str(path))
        check_error(failed.value, name)
        path.rmdir()
    finally:
        aside.rename(path)


def test_a_cut_off_meta_graph_tells_node_and_byte_and_is_an_os_error_too(files: Path) -> None:
    whole = (files / "binary.meta").read_bytes()
    cut = files / "cut.meta"
    place = whole.index(b"net/w/Assign") + 30
    cut.write_bytes(whole[:place])
    message = rf"cut\.meta of {place} bytes as a MetaGraphDef: .* at byte \d+ in graph_def\.node\[\d+\] 'net/w/Assign'"
    with pytest.raises(tf.errors.DataLossError, match=message):
        load_meta_graph(str(cut))
    with pytest.raises(OSError, match="Cannot parse file"):
        load_meta_graph(str(cut))


def test_a_cut_off_text_tells_node_and_line(files: Path) -> None:
    whole = (files / "text.meta").read_text()
    cut = files / "cut.meta"
    cut.write_text(whole[: whole.index('"net/w/Assign"') + 50])
    with pytest.raises(tf.errors.DataLossError, match=r"cut\.meta as the text .* \d+:\d+ : .* node 'net/w/Assign'"):
        load_meta_graph(str(cut))


def test_text_without_end_of_depth_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "deep.meta"
    path.write_text("graph_def { library { function { node_def { attr { value " + "{ list { func { attr { value " * 400)
    with pytest.raises(tf.errors.DataLossError, match=r"deep\.meta .* too deep"):
        load_meta_graph(str(path))


def test_an_unknown_op_and_a_missing_node_name_the_file(files: Path) -> None:
    whole = (files / "text.meta").read_text()
    path = files / "changed.meta"
    path.write_text(whole.replace('op: "MatMul"', 'op: "MatMuul"'))
    with pytest.raises(tf.errors.NotFoundError, match=r"'MatMuul'[\s\S]*Node '[^']*MatMul'[\s\S]*changed\.meta"):
        load_meta_graph(str(path))
    path.write_text(whole.replace('input: "net/w"', 'input: "net/v"'))
    with pytest.raises(ValueError, match=r"Unknown input node 'net/v' \(in the graph of file .*changed\.meta\)") as raised:
        load_meta_graph(str(path))
    assert isinstance(raised.value, tf.errors.InvalidArgumentError)


def test_a_collection_that_names_no_tensor_of_the_graph_names_the_file(files: Path) -> None:
    path = files / "lacking.meta"
    meta_graph = tf.MetaGraphDef.FromString((files / "binary.meta").read_bytes())
    meta_graph.collection_def["losses"].node_list.value.append("nothing:0")
    path.write_bytes(meta_graph.SerializeToString())
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"'nothing[\s\S]*lacking\.meta") as raised:
        load_meta_graph(str(path))
    assert isinstance(raised.value, KeyError)


@pytest.mark.parametrize("text", ["a\t99999999999999999999\n", f"a\t{'9' * 5000}\n", "a\t1_0\n", "a\tx\n"])
def test_a_number_that_is_none_names_vocabulary_and_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "words"
    path.write_text("b\t1\n" + text)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"in line 1 is not a valid int64[\s\S]*words"):
        load_vocabulary(str(path))


def test_an_event_that_is_none_names_file_and_offset(tmp_path: Path) -> None:
    path = str(tmp_path / "events")
    with tf.python_io.TFRecordWriter(path) as writer:
        writer.write(tf.Event(step=1).SerializeToString())
        writer.write(b"\xff" * 20)
    with pytest.raises(tf.errors.DataLossError, match=r"in the record at 18 in .*events cannot be parsed: .* at byte 0"):
        list(tf.train.summary_iterator(path))


def run_by(function: dict[str, Any]) -> Any:
    from_text = tf.GraphDef()
    call = from_text.node.add(name="call", op="If", input=["p", "x"])
    for name, dtype in (("p", tf.bool), ("x", tf.float32)):
        node = from_text.node.add(name=name, op="Placeholder")
        node.attr["dtype"].type = dtype.as_datatype_enum
        node.attr["shape"].shape.SetInParent()
    for key in ("Tin", "Tout"):
        call.attr[key].list.type.append(tf.float32.as_datatype_enum)
    call.attr["Tcond"].type = tf.bool.as_datatype_enum
    for key, name in function.items():
        call.attr[key].func.name = name
    return from_text


def test_a_function_that_branches_to_itself_is_an_error() -> None:
    branches = {"then_branch": "f", "else_branch": "f"}
    proto = run_by(branches)
    function = proto.library.function.add()
    function.signature.name = "f"
    function.signature.input_arg.add(name="x", type=tf.float32.as_datatype_enum)
    function.signature.output_arg.add(name="y", type=tf.float32.as_datatype_enum)
    p = function.node_def.add()
    p.CopyFrom(proto.node[1])
    inner = function.node_def.add()
    inner.CopyFrom(proto.node[0])
    inner.input[:] = ["p:output:0", "x"]
    function.ret["y"] = "call:output:0"
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Function 'f' calls itself"):
        tf.import_graph_def(proto, name="")


def test_an_escape_that_is_none_is_told_where_warnings_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "escaped.meta"
    path.write_text('meta_info_def { meta_graph_version: "\\  " }')
    with pytest.raises(tf.errors.DataLossError, match="invalid escape sequence"):
        tf.train.import_meta_graph(str(path))
