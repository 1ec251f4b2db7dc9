"""Writing a bundle and reading it back: values, slices, damage, and what is not a bundle."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import shutil
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft import errors
from weft.checkpoint import entry_reader, files
from weft.checkpoint.bundle_format import index_filename
from weft.checkpoint.bundle_index import BundleIndex, write_index
from weft.checkpoint.bundle_reader import BundleReader
from weft.checkpoint.bundle_writer import BundleWriter
from weft.checkpoint.tensor_slice import TensorSlice, slice_key
from weft.framework.types import dtypes


@pytest.fixture
def prefix(tmp_path: Path) -> str:
    return str(tmp_path / "model.ckpt-1")


def write(prefix: str, **values: Any) -> None:
    with BundleWriter(prefix) as writer:
        for name, value in values.items():
            writer.add(name, value)


def test_every_type_and_shape_comes_back(prefix: str, values: dict[str, Any], describe: Callable[[Any], Any]) -> None:
    write(prefix, **values)
    with BundleReader(prefix) as reader:
        assert reader.keys() == sorted(values, key=str.encode)
        for name, value in values.items():
            assert describe(reader.lookup(name)) == describe(value)
            assert reader.dtype(name) == dtypes.as_dtype(value.dtype)
            assert reader.shape(name) == value.shape
            assert reader.has(name)


def test_the_files_have_tensorflows_names_and_nothing_else_is_left(prefix: str, tmp_path: Path) -> None:
    write(prefix, a=np.ones(3))
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"model.ckpt-1.index", "model.ckpt-1.data-00000-of-00001"}


def test_python_values_and_strided_and_swapped_arrays_are_stored_as_their_values(prefix: str) -> None:
    strided = np.arange(24, dtype=np.float32).reshape(4, 6)[::2, 1::2]
    write(prefix, strided=strided, swapped=np.arange(5, dtype=">i4"), number=3, text="für", bytes_=np.array([b"ab", b"c"]))
    with BundleReader(prefix) as reader:
        np.testing.assert_array_equal(reader.lookup("strided"), strided)
        np.testing.assert_array_equal(reader.lookup("swapped"), np.arange(5, dtype=np.int32))
        assert reader.dtype("number") == dtypes.int32
        assert reader.lookup("text")[()] == "für".encode()
        assert reader.lookup("bytes_").tolist() == [b"ab", b"c"]


def test_quantized_numbers_keep_the_type_that_is_told(prefix: str) -> None:
    with BundleWriter(prefix) as writer:
        writer.add("q", np.arange(3, dtype=np.uint8), dtypes.quint8)
        with pytest.raises(errors.InvalidArgumentError, match="an array of uint8 cannot be stored as qint32"):
            writer.add("r", np.arange(3, dtype=np.uint8), dtypes.qint32)
    with BundleReader(prefix) as reader:
        assert reader.dtype("q") == dtypes.quint8
        assert reader.lookup("q").tolist() == [0, 1, 2]


def test_numbers_are_read_into_memory_that_jax_takes_over(prefix: str) -> None:
    write(prefix, a=np.ones(1000, np.float32), b=np.ones((3, 7)))
    with BundleReader(prefix) as reader:
        for name in ("a", "b"):
            value = reader.lookup(name)
            assert value.ctypes.data % 64 == 0
            assert value.flags.writeable


def test_a_name_is_added_once(prefix: str) -> None:
    with BundleWriter(prefix) as writer:
        writer.add("a", 1.0)
        with pytest.raises(errors.InvalidArgumentError, match="Adding duplicate key: a"):
            writer.add("a", 2.0)
        for name in ("", "\0a"):
            with pytest.raises(errors.InvalidArgumentError, match="cannot be the name of a tensor"):
                writer.add(name, 1.0)


def test_a_writer_that_fails_leaves_nothing_and_cannot_go_on(prefix: str, tmp_path: Path) -> None:
    writer = BundleWriter(prefix)
    writer.add("a", np.ones(3))
    with pytest.raises(TypeError), writer:
        writer.add("b", object())
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(errors.FailedPreconditionError, match="has finished or failed"):
        writer.add("b", 1)


def test_a_full_disk_is_told_with_the_file(prefix: str, tmp_path: Path) -> None:
    writer = BundleWriter(prefix)
    with open("/dev/full", "wb", buffering=0) as full:
        writer._file.close()
        writer._file = full
        with pytest.raises(errors.ResourceExhaustedError, match=r"model\.ckpt-1\.data-00000-of-00001"):
            writer.add("a", np.ones(3))
    assert list(tmp_path.iterdir()) == []


def test_the_directory_is_made_but_not_the_one_above(tmp_path: Path) -> None:
    write(str(tmp_path / "one" / "m"), a=1)
    assert BundleReader(str(tmp_path / "one" / "m")).has("a")
    with pytest.raises(errors.NotFoundError):
        BundleWriter(str(tmp_path / "two" / "three" / "m"))


WHOLE = np.arange(10 * 6, dtype=np.float32).reshape(10, 6)
WORDS = np.array([b"w%d" % i * i for i in range(60)], object).reshape(10, 6)
BOXES = [((0, 0), (4, 6)), ((4, 0), (3, 6)), ((7, 0), (3, 2)), ((7, 2), (3, -1))]


@pytest.fixture
def partitioned(prefix: str) -> str:
    with BundleWriter(prefix) as writer:
        for name, whole in (("v", WHOLE), ("words", WORDS)):
            for starts, sizes in BOXES:
                rows = slice(starts[0], starts[0] + sizes[0])
                columns = slice(starts[1], None if sizes[1] < 0 else starts[1] + sizes[1])
                if sizes[1] < 0:
                    # The last box has its size in numbers: -1 means the whole dimension, from 0.
                    sizes = (sizes[0], 6 - starts[1])
                writer.add_slice(name, (10, 6), starts, sizes, whole[rows, columns])
    return prefix


@pytest.mark.parametrize(("name", "whole"), [("v", WHOLE), ("words", WORDS)])
def test_any_partitioning_can_be_read_with_any_other(partitioned: str, name: str, whole: Any) -> None:
    with BundleReader(partitioned) as reader:
        np.testing.assert_array_equal(reader.lookup(name), whole)
        for start in range(10):
            for size in range(11 - start):
                box = reader.lookup_slice(name, (start, 1), (size, 4))
                np.testing.assert_array_equal(box, whole[start : start + size, 1:5])
        np.testing.assert_array_equal(reader.lookup_slice(name, (0, 0), (3, -1)), whole[:3])


def test_a_partitioned_variable_is_one_variable(partitioned: str) -> None:
    with BundleReader(partitioned) as reader:
        assert reader.keys() == ["v", "words"]
        assert reader.shape("v") == (10, 6)
        assert reader.debug_string() == "v (DT_FLOAT) [10,6]\nwords (DT_STRING) [10,6]\n"


def test_a_whole_variable_is_read_in_slices_without_holding_it(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry_reader, "_BLOCK_BYTES", 64)
    monkeypatch.setattr(entry_reader, "_CHUNK_BYTES", 10)
    write(prefix, v=WHOLE, flat=WHOLE.ravel())
    with BundleReader(prefix) as reader:
        np.testing.assert_array_equal(reader.lookup_slice("v", (3, 2), (5, 3)), WHOLE[3:8, 2:5])
        np.testing.assert_array_equal(reader.lookup_slice("flat", (7,), (40,)), WHOLE.ravel()[7:47])


def test_a_slice_that_is_the_whole_is_stored_as_such(prefix: str) -> None:
    with BundleWriter(prefix) as writer:
        writer.add_slice("v", (10, 6), (0, 0), (10, -1), WHOLE)
        writer.add_slice("scalar", (), (), (), np.float32(2))
    with BundleReader(prefix) as reader:
        np.testing.assert_array_equal(reader.lookup("v"), WHOLE)
        assert reader.lookup_slice("scalar", (), ())[()] == 2


def test_slices_must_fit_the_variable_and_each_other(prefix: str) -> None:
    with BundleWriter(prefix) as writer:
        writer.add_slice("v", (10, 6), (0, 0), (4, 6), WHOLE[:4])
        with pytest.raises(errors.InvalidArgumentError, match=r"needs an array of shape \[3, 6\], but it is \[4, 6\]"):
            writer.add_slice("v", (10, 6), (4, 0), (3, 6), WHOLE[:4])
        with pytest.raises(errors.InvalidArgumentError, match="Adding duplicate key: v 0,4:0,6"):
            writer.add_slice("v", (10, 6), (0, 0), (4, 6), WHOLE[:4])
        with pytest.raises(
            errors.InvalidArgumentError, match=r"before are of float32 \[10, 6\], this one is of float32 \[9, 6\]"
        ):
            writer.add_slice("v", (9, 6), (4, 0), (4, 6), WHOLE[:4])
        with pytest.raises(errors.InvalidArgumentError, match="this one is of int32"):
            writer.add_slice("v", (10, 6), (4, 0), (4, 6), WHOLE[:4].astype(np.int32))
        with pytest.raises(errors.InvalidArgumentError, match=r"has no slice 8,4:0,6: 8\+4 is beyond 10"):
            writer.add_slice("v", (10, 6), (8, 0), (4, 6), WHOLE[:4])
        with pytest.raises(errors.InvalidArgumentError, match="Adding duplicate key: v"):
            writer.add("v", WHOLE)
        writer.add("w", WHOLE)
        with pytest.raises(errors.InvalidArgumentError, match="a slice of w came, which is there as a whole"):
            writer.add_slice("w", (10, 6), (0, 0), (4, 6), WHOLE[:4])


def test_what_was_not_saved_cannot_be_read(prefix: str) -> None:
    with BundleWriter(prefix) as writer:
        writer.add_slice("v", (10, 6), (0, 0), (4, 6), WHOLE[:4])
    with BundleReader(prefix) as reader:
        np.testing.assert_array_equal(reader.lookup_slice("v", (1, 0), (3, 6)), WHOLE[1:4])
        message = "Does not have sufficient slices for partitioned tensor v to restore in slice_spec: 3,2:0,6; .*6 of its 12"
        with pytest.raises(errors.InvalidArgumentError, match=message):
            reader.lookup_slice("v", (3, 0), (2, 6))
        with pytest.raises(errors.InvalidArgumentError, match="has no slice"):
            reader.lookup_slice("v", (3, 0), (8, 6))


def test_overlapping_slices_are_damage(prefix: str) -> None:
    with BundleWriter(prefix) as writer:
        writer.add_slice("v", (10, 6), (0, 0), (6, 6), WHOLE[:6])
        writer.add_slice("v", (10, 6), (4, 0), (6, 6), WHOLE[4:])
    with (
        BundleReader(prefix) as reader,
        pytest.raises(errors.DataLossError, match="slices of partitioned tensor 'v' overlap"),
    ):
        reader.lookup("v")


def test_a_missing_name_is_not_found(prefix: str) -> None:
    write(prefix, a=1)
    with BundleReader(prefix) as reader:
        assert not reader.has("b")
        assert not reader.has("")
        for read in (reader.lookup, reader.dtype, reader.shape):
            with pytest.raises(errors.NotFoundError, match="Key b not found in checkpoint"):
                read("b")


def test_every_flipped_byte_of_the_data_is_noticed_by_its_tensor(prefix: str, values: dict[str, Any]) -> None:
    write(prefix, **values)
    path = Path(prefix + ".data-00000-of-00001")
    good = path.read_bytes()
    for position in range(0, len(good), 3):
        path.write_bytes(good[:position] + bytes((good[position] ^ 0x10,)) + good[position + 1 :])
        with BundleReader(prefix) as reader:
            damaged = []
            for name in values:
                try:
                    reader.lookup(name)
                except errors.DataLossError as error:
                    damaged.append((name, error.message))
            ((name, message),) = damaged
            assert str(path) in message
            assert repr(name) in message


def test_a_truncated_data_file_spares_the_tensors_before_the_cut(prefix: str) -> None:
    write(prefix, a=np.ones(10), b=np.ones(10))
    path = Path(prefix + ".data-00000-of-00001")
    path.write_bytes(path.read_bytes()[:100])
    with BundleReader(prefix) as reader:
        assert reader.lookup("a").sum() == 10
        message = "data-00000-of-00001: tensor 'b' is damaged: the file ends at byte 100, the tensor at 160"
        with pytest.raises(errors.DataLossError, match=message):
            reader.lookup("b")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"shape": (1 << 43,)}, "tells 12 bytes, but float32"),
        ({"shape": (1 << 43,), "size": 1 << 45}, "the file ends at byte"),
        ({"shape": (-1, 3)}, r"tells shape \[-1, 3\]"),
        ({"shape": (1 << 40, 1 << 40, 0)}, "tells shape"),
        ({"shape": (1,) * 100}, "shape of 100 dimensions"),
        ({"offset": -1}, "12 bytes at -1"),
        ({"size": -1}, "-1 bytes at"),
        ({"shard": -1}, "of data file -1"),
        ({"dtype": dtypes.string.as_datatype_enum, "shape": (1 << 43,)}, "too few for 8796093022208 strings"),
        ({"shape": (1 << 43,), "slices": (TensorSlice((0,), (1 << 43,)),)}, "the file ends at byte"),
    ],
)
def test_a_damaged_record_behind_a_right_checksum_is_told_before_memory_is_taken(
    prefix: str, change: dict[str, Any], told: str
) -> None:
    write(prefix, a=np.ones(3, np.float32))
    with BundleReader(prefix) as reader:
        good = BundleIndex(prefix).entry("a")
        assert reader.lookup("a").sum() == 3
    entry = dataclasses.replace(good, **change)
    pieces = {slice_key("a", piece): dataclasses.replace(entry, slices=(), size=1 << 45) for piece in entry.slices}
    Path(index_filename(prefix)).unlink()
    write_index(index_filename(prefix), 1, {b"a": entry, **pieces}, sync=False)
    with BundleReader(prefix) as reader, pytest.raises(errors.DataLossError, match=told):
        reader.lookup("a")


def test_a_missing_data_file_is_told_with_the_remedy(prefix: str) -> None:
    write(prefix, a=np.ones(10))
    Path(prefix + ".data-00000-of-00001").unlink()
    with (
        BundleReader(prefix) as reader,
        pytest.raises(errors.NotFoundError, match="a file system that all of them see"),
    ):
        reader.lookup("a")


def test_a_missing_data_file_leaves_no_cycle_with_the_reader(prefix: str) -> None:
    write(prefix, a=np.ones(10))
    Path(prefix + ".data-00000-of-00001").unlink()
    reader = BundleReader(prefix)
    gc.disable()
    try:
        with contextlib.suppress(errors.NotFoundError):
            reader.lookup("a")
        forgotten = weakref.ref(reader)
        del reader
        assert forgotten() is None
    finally:
        gc.enable()


def test_paths_that_are_no_checkpoint_give_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(
        errors.NotFoundError,
        match=r"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for .*nothing",
    ):
        BundleReader(str(tmp_path / "nothing"))
    (tmp_path / "notes.txt").write_text("hello world\n" * 20)
    (tmp_path / "text.index").write_text("hello world\n" * 20)
    (tmp_path / "empty.index").write_bytes(b"")
    (tmp_path / "folder.index").mkdir()
    for name, what in (
        (".", "it is a directory"),
        ("notes.txt", "it is not a checkpoint of the V2 format"),
        ("text", "bad magic number"),
        ("empty", "too short"),
        ("folder", "Is a directory"),
    ):
        with pytest.raises(errors.DataLossError, match=what):
            BundleReader(str(tmp_path / name))


def test_a_data_or_index_file_given_as_the_checkpoint_is_told_with_the_remedy(prefix: str) -> None:
    write(prefix, a=1)
    for suffix in (".index", ".data-00000-of-00001"):
        with pytest.raises(errors.DataLossError, match=r"name the checkpoint without \.index or \.data"):
            BundleReader(prefix + suffix)


def test_several_threads_read_through_one_reader(prefix: str) -> None:
    arrays = {f"v{i}": np.full(50_000, i, np.float32) for i in range(8)}
    write(prefix, **arrays)
    failures: list[str] = []

    def read_all(reader: BundleReader) -> None:
        for name, array in arrays.items():
            if not np.array_equal(reader.lookup(name), array):
                failures.append(name)

    with BundleReader(prefix) as reader:
        threads = [threading.Thread(target=read_all, args=(reader,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []


def test_a_reader_keeps_the_checkpoint_that_it_began_to_read(prefix: str) -> None:
    write(prefix, a=np.zeros(3), b=np.zeros(3))
    with BundleReader(prefix) as reader:
        reader.lookup("a")
        write(prefix, a=np.ones(3), b=np.ones(3))
        assert reader.lookup("b").sum() == 0
    assert BundleReader(prefix).lookup("b").sum() == 3


def test_checkpoints_live_in_remote_stores_too(values: dict[str, Any], describe: Callable[[Any], Any]) -> None:
    prefix = "memory://weft-bundle-test/model.ckpt"
    try:
        write(prefix, **values)
        write(prefix, **values)
        with BundleReader(prefix) as reader:
            assert {name: describe(reader.lookup(name)) for name in values} == {n: describe(v) for n, v in values.items()}
        left = files.matching("memory://weft-bundle-test/*")
        assert [path.rpartition("/")[2] for path in left] == ["model.ckpt.data-00000-of-00001", "model.ckpt.index"]
    finally:
        for path in files.matching("memory://weft-bundle-test/*"):
            files.remove_if_exists(path)


def test_many_variables_take_several_index_blocks(prefix: str) -> None:
    names = [f"tower_{i // 100}/layer_{i % 100:03d}/kernel" for i in range(20_000)]
    with BundleWriter(prefix, sync=False) as writer:
        for number, name in enumerate(names):
            writer.add(name, np.int32(number))
    assert Path(prefix + ".index").stat().st_size > 2 * 256 * 1024
    with BundleReader(prefix) as reader:
        assert reader.keys() == sorted(names)
        assert all(reader.lookup(names[i])[()] == i for i in range(0, 20_000, 997))


def test_paths_with_pattern_characters_are_taken_as_they_are(tmp_path: Path) -> None:
    prefix = str(tmp_path / "run[1]*" / "m")
    write(prefix, a=1)
    write(prefix, a=2)
    shutil.copy(prefix + ".index", tmp_path)
    assert BundleReader(prefix).lookup("a")[()] == 2
