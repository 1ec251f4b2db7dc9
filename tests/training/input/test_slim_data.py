"""slim's datasets of records: what is written as examples comes out of a provider as images, boxes, texts and labels."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import weft as tf

slim = tf.contrib.slim
_FEATURES = {
    "image/encoded": tf.FixedLenFeature((), tf.string, default_value=""),
    "image/format": tf.FixedLenFeature((), tf.string, default_value="png"),
    "label": tf.FixedLenFeature([1], tf.int64),
    "y0": tf.VarLenFeature(tf.float32), "x0": tf.VarLenFeature(tf.float32),
    "y1": tf.VarLenFeature(tf.float32), "x1": tf.VarLenFeature(tf.float32),
    "numbers": tf.VarLenFeature(tf.int64), "shape": tf.FixedLenFeature([2], tf.int64),
    "columns": tf.VarLenFeature(tf.int64), "values": tf.VarLenFeature(tf.float32),
}  # fmt: skip


def _pixels(number: int) -> np.ndarray:
    return np.full((4, 5, 3), number, np.uint8)


def _example(number: int, form: str = "png") -> bytes:
    data = io.BytesIO()
    Image.fromarray(_pixels(number)).save(data, "png")
    encoded = _pixels(number).tobytes() if form == "raw" else data.getvalue()

    def ints(*values: int) -> object:
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    def floats(*values: float) -> object:
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))

    def text(value: bytes) -> object:
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))

    return tf.train.Example(features=tf.train.Features(feature={
        "image/encoded": text(encoded), "image/format": text(form.encode()), "label": ints(number),
        "y0": floats(0.0, 0.25), "x0": floats(0.125, 0.5), "y1": floats(0.5, 0.75), "x1": floats(1.0, 1.0),
        "numbers": ints(*range(6)), "shape": ints(2, 3), "columns": ints(1, 3), "values": floats(0.5, 1.5),
    })).SerializeToString()  # fmt: skip


def _files(folder: Path) -> str:
    for shard in range(2):
        with tf.python_io.TFRecordWriter(str(folder / f"train-{shard}")) as writer:
            for number in range(3):
                writer.write(_example(10 * shard + number))
    return str(folder / "train-*")


def _decode(handlers: dict[str, object], record: bytes) -> dict[str, object]:
    decoder = slim.tfexample_decoder.TFExampleDecoder(_FEATURES, handlers)
    with tf.Session() as session:
        found = decoder.decode(tf.constant(record), list(handlers))
        return dict(zip(handlers, session.run(found), strict=True))


@pytest.mark.timeout(60)
def test_a_provider_gives_every_record_of_all_files_once_an_epoch(tmp_path: Path) -> None:
    handlers = {"image": slim.tfexample_decoder.Image(shape=[4, 5, 3]), "label": slim.tfexample_decoder.Tensor("label")}
    dataset = slim.dataset.Dataset(
        _files(tmp_path), tf.TFRecordReader, slim.tfexample_decoder.TFExampleDecoder(_FEATURES, handlers), 6, {}, num_classes=3
    )
    provider = slim.dataset_data_provider.DatasetDataProvider(
        dataset, num_readers=2, num_epochs=1, common_queue_min=2, common_queue_capacity=6, seed=1
    )
    assert list(provider.list_items()) == ["image", "label", "record_key"]
    assert (provider.num_samples(), dataset.num_classes) == (6, 3)
    image, label = provider.get(["image", "label"])
    assert image.shape.as_list() == [4, 5, 3]
    seen = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        with slim.queues.QueueRunners(session):
            for _ in range(6):
                pixels, (number,) = session.run([image, label])
                assert (pixels == _pixels(number)).all()
                seen.append(int(number))
            with pytest.raises(slim.queues.NestedQueueRunnerError, match="cannot be nested"), slim.queues.QueueRunners(session):
                pass
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(label)
    assert sorted(seen) == [0, 1, 2, 10, 11, 12]
    with pytest.raises(ValueError, match=r"Item \[other\] is invalid"):
        provider.get(["other"])


@pytest.mark.timeout(60)
def test_a_single_pass_keeps_the_order(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(f"{name}1\n{name}2\n")
    _, line = slim.parallel_reader.single_pass_read([str(tmp_path / "b.txt"), str(tmp_path / "a.*")], tf.TextLineReader)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with slim.queues.QueueRunners(session):
            assert [session.run(line) for _ in range(4)] == [b"b1", b"b2", b"a1", b"a2"]
    with pytest.raises(ValueError, match="No data files found"):
        slim.parallel_reader.get_data_files(str(tmp_path / "none*"))


def test_boxes_shapes_and_sparse_features_become_items() -> None:
    decoder = slim.tfexample_decoder
    table = tf.contrib.lookup.index_table_from_tensor(["zero"])
    found = _decode({
        "boxes": decoder.BoundingBox(["y0", "x0", "y1", "x1"]),
        "matrix": decoder.Tensor("numbers", shape_keys="shape"),
        "column": decoder.Tensor("numbers", shape=[6, 1]),
        "sum": decoder.ItemHandlerCallback(["label"], lambda features: features["label"] + 1),
        "dense": decoder.SparseTensor("columns", "values", shape=[5], densify=True),
        "backup": decoder.BackupHandler(decoder.Tensor("numbers"), decoder.Tensor("columns")),
    }, _example(7))  # fmt: skip
    np.testing.assert_allclose(found["boxes"], [[0, 0.125, 0.5, 1], [0.25, 0.5, 0.75, 1]])
    np.testing.assert_array_equal(found["matrix"], np.arange(6).reshape(2, 3))
    np.testing.assert_array_equal(found["column"], np.arange(6).reshape(6, 1))
    np.testing.assert_array_equal(found["sum"], [8])
    np.testing.assert_allclose(found["dense"], [0, 0.5, 0, 1.5, 0])
    np.testing.assert_array_equal(found["backup"], np.arange(6))
    with pytest.raises(ValueError, match="expects 4 keys but got 2"):
        decoder.BoundingBox(["a", "b"])
    with pytest.raises(ValueError, match="both shape_keys and shape"):
        decoder.Tensor("a", shape_keys="b", shape=[1])
    with pytest.raises(ValueError, match="Backup handler is of type"):
        decoder.BackupHandler(decoder.Tensor("a"), table)


@pytest.mark.parametrize("form", ["png", "raw", "RAW"])
def test_an_image_is_decoded_by_its_format(form: str) -> None:
    image = slim.tfexample_decoder.Image(shape=[4, 5, 3])
    np.testing.assert_array_equal(_decode({"image": image}, _example(9, form.lower()))["image"], _pixels(9))


def test_summaries_have_the_names_of_their_tensors(capfd: pytest.CaptureFixture[str]) -> None:
    value = tf.constant([0.0, 1.0], name="value")
    scalar = tf.constant(2.0, name="scalar")
    slim.summaries.add_histogram_summaries([value], prefix="h")
    slim.summaries.add_scalar_summaries([scalar], prefix="s", print_summary=True)
    slim.summaries.add_zero_fraction_summary(value)
    slim.summaries.add_image_summary(tf.zeros([1, 2, 2, 3]), "picture")
    with tf.Session() as session:
        summary = tf.Summary.FromString(session.run(tf.summary.merge_all()))
    values = {each.tag: each for each in summary.value}
    assert sorted(values) == ["h/value", "picture/image/0", "s/scalar", "value/Fraction_of_Zero_Values"]
    assert values["s/scalar"].simple_value == 2.0
    assert values["value/Fraction_of_Zero_Values"].simple_value == 0.5
    assert "s/scalar[2]" in capfd.readouterr().err


def test_the_sizes_of_variables_and_outputs_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    weights = tf.get_variable("weights", [3, 4])
    assert slim.model_analyzer.analyze_vars([weights], print_info=True) == (12, 48)
    assert "weights:0 (float32_ref 3x4) [12, bytes: 48]" in capsys.readouterr().out
    with tf.Graph().as_default() as graph:
        tf.zeros([2, 5], name="zeros")
    assert slim.model_analyzer.analyze_ops(graph, print_info=True) == 10
    assert "zeros \t-> (float32 2x5) [10]" in capsys.readouterr().out


def test_the_global_step_is_the_given_one_or_the_graphs() -> None:
    find = tf.contrib.framework.assert_or_get_global_step
    assert find() is None
    step = tf.train.get_or_create_global_step()
    assert find() is step
    assert find(global_step_tensor=step) is step
    with pytest.raises(TypeError, match="does not have integer type"):
        find(global_step_tensor=tf.constant(1.0))


def test_patches_are_those_of_extract_image_patches() -> None:
    images = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    patches = tf.image.extract_patches(images, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(patches)[0, 0], [[0, 1, 4, 5], [2, 3, 6, 7]])
        assert session.run(tf.io.is_jpeg(b"\xff\xd8\xff..."))
        assert not session.run(tf.io.is_jpeg(b"png"))
    assert tf.train.queue_runner.QueueRunner is tf.train.QueueRunner
