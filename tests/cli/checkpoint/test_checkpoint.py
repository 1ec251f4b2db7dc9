"""`weft checkpoint` lists, shows, compares, exports, imports and verifies checkpoints, and tells damage in one line."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from weft.checkpoint.bundle_writer import BundleWriter
from weft.checkpoint.checkpoint_reader import NewCheckpointReader
from weft.checkpoint.checkpoint_state import update_checkpoint_state
from weft.checkpoint.slice_file import SliceFileWriter
from weft.cli.command_line import main
from weft.framework.types import dtypes


def write(prefix: Path, **tensors: np.ndarray) -> str:
    with BundleWriter(str(prefix)) as writer:
        for name, value in tensors.items():
            writer.add(name.replace("__", "/"), value)
    return str(prefix)


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    return write(
        tmp_path / "model.ckpt-7",
        dense__kernel=np.arange(6, dtype=np.float32).reshape(2, 3),
        step=np.asarray(7, np.int64),
        small=np.asarray([1.5, np.nan], ml_dtypes.bfloat16),
        words=np.asarray([b"a", b"bc"], object),
    )


def damage(prefix: str, position: int) -> None:
    with open(f"{prefix}.data-00000-of-00001", "r+b") as file:
        file.seek(position)
        byte = file.read(1)
        file.seek(position)
        file.write(bytes([byte[0] ^ 0xFF]))


def test_a_folder_lists_its_checkpoints_and_marks_the_latest(
    checkpoint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    older = write(tmp_path / "model.ckpt-3", step=np.asarray(3, np.int64))
    os.utime(f"{older}.index", (1, 1))
    update_checkpoint_state(str(tmp_path), checkpoint, [older, checkpoint])
    assert main(["checkpoint", "ls", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["checkpoint", "model.ckpt-3", "model.ckpt-7"]
    assert lines[2].endswith("latest")
    assert "latest" not in lines[1]


def test_a_checkpoint_shows_its_tensors(checkpoint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checkpoint", "show", checkpoint]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["dense/kernel", "float32", "[2,", "3]"]
    assert lines[-1] == f"4 tensors, 11 elements, 36 bytes in {checkpoint}"


def test_a_tensor_shows_its_values(checkpoint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checkpoint", "show", checkpoint, "dense/kernel", "small", "words"]) == 0
    shown = capsys.readouterr().out
    assert "from 0 to 5, mean 2.5" in shown
    assert "1 NaN, 0 infinite" in shown
    assert "[b'a' b'bc']" in shown


def test_the_same_does_not_differ(checkpoint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    update_checkpoint_state(str(tmp_path), checkpoint)
    assert main(["checkpoint", "diff", checkpoint, str(tmp_path)]) == 0
    assert capsys.readouterr().out == "0 tensors differ, 4 are the same\n"


def test_what_differs_is_named(checkpoint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = write(
        tmp_path / "other",
        dense__kernel=np.arange(6, dtype=np.float32).reshape(2, 3) + np.float32(0.25),
        step=np.asarray([7], np.int64),
        words=np.asarray([b"a", b"b"], object),
        new=np.zeros(2, np.uint8),
    )
    assert main(["checkpoint", "diff", checkpoint, other]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "! dense/kernel: 6 of 6 elements differ, by 0.25 at most",
        f"+ new: only in {other}",
        f"- small: only in {checkpoint}",
        "! step: int64 [] and int64 [1]",
        "! words: 1 of 2 elements differ",
        "5 tensors differ, 0 are the same",
    ]
    main(["checkpoint", "diff", checkpoint, other, "--tolerance", "0.3"])
    assert "dense/kernel" not in capsys.readouterr().out


def test_unsigned_numbers_and_booleans_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = write(tmp_path / "one", u=np.asarray([1, 2], np.uint8), b=np.asarray([True, False]))
    other = write(tmp_path / "other", u=np.asarray([3, 2], np.uint8), b=np.asarray([True, True]))
    assert main(["checkpoint", "diff", one, other]) == 1
    told = capsys.readouterr().out
    assert "u: 1 of 2 elements differ, by 2 at most" in told
    assert "b: 1 of 2 elements differ" in told


def test_numpy_reads_what_is_exported(checkpoint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out.npz"
    assert main(["checkpoint", "export", checkpoint, str(output)]) == 0
    assert "Wrote 4 tensors" in capsys.readouterr().out
    with np.load(output) as read:
        assert read["dense/kernel"].tolist() == [[0, 1, 2], [3, 4, 5]]
        assert read["small"].dtype == np.float32
        assert read["words"].tolist() == [b"a", b"bc"]
        assert read["step"][()] == 7


def test_safetensors_reads_what_is_exported(checkpoint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    output = tmp_path / "out.safetensors"
    assert main(["checkpoint", "export", checkpoint, str(output)]) == 0
    assert "no strings or complex128: words" in capsys.readouterr().err
    read = safetensors.load_file(output)
    assert sorted(read) == ["dense/kernel", "small", "step"]
    assert read["dense/kernel"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert read["small"].dtype == ml_dtypes.bfloat16


def test_only_what_is_asked_for_is_exported(checkpoint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = str(tmp_path / "out.npz")
    assert main(["checkpoint", "export", checkpoint, output, "--only", "dense/*"]) == 0
    with np.load(output) as read:
        assert read.files == ["dense/kernel"]
    assert main(["checkpoint", "export", checkpoint, output]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert main(["checkpoint", "export", checkpoint, output, "--overwrite", "--only", "conv*"]) == 2
    assert "no tensor" in capsys.readouterr().err


def test_whole_checkpoints_are_whole(checkpoint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checkpoint", "verify", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{checkpoint}: whole\n"


def test_damage_is_told_with_file_and_place_in_one_line(checkpoint: str, capsys: pytest.CaptureFixture[str]) -> None:
    damage(checkpoint, 5)
    assert main(["checkpoint", "verify", checkpoint]) == 1
    told = capsys.readouterr().err
    assert told.startswith(
        f"weft checkpoint: DataLossError: {checkpoint}.data-00000-of-00001: tensor 'dense/kernel' is damaged"
    )
    assert "over bytes 0 to 24" in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "{folder}/nothing"], "NotFoundError: Unsuccessful TensorSliceReader constructor"),
        (["show", "{folder}/text"], "DataLossError: Unable to open table file {folder}/text"),
        (["show", "{folder}/empty"], "Couldn't find 'checkpoint' file or checkpoints in given directory"),
        (["show", "{folder}/broken"], "DataLossError: {folder}/broken.index: not an sstable (bad magic number)"),
        (["ls", "{folder}/empty"], "has no checkpoints"),
        (["ls", "{folder}/nothing"], "is no folder"),
        (["diff", "{folder}/nothing", "{folder}/nothing"], "NotFoundError"),
    ],
)
def test_what_is_no_checkpoint_is_told_in_one_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").write_text("no checkpoint")
    (tmp_path / "broken.index").write_bytes(b"x" * 100)
    assert main(["checkpoint", *(each.format(folder=tmp_path) for each in arguments)]) == 2
    told = capsys.readouterr().err
    assert message.format(folder=tmp_path) in told
    assert told.count("\n") == 1


def test_a_file_of_another_kind_is_refused(checkpoint: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["checkpoint", "export", checkpoint, "out.h5"])
    assert "'out.h5' should end in .npz or .safetensors" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["npz", "safetensors"])
def test_what_is_exported_is_imported_again(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if kind == "safetensors":
        pytest.importorskip("safetensors.numpy")
    first = write(
        tmp_path / "first",
        dense__kernel=np.arange(6, dtype=np.float32).reshape(2, 3),
        step=np.asarray(7, np.int64),
        empty=np.zeros((0, 2), np.float16),
        flags=np.asarray([True, False]),
        waves=np.asarray([1j, 2], np.complex64),
    )
    output, second = str(tmp_path / f"out.{kind}"), str(tmp_path / "second")
    assert main(["checkpoint", "export", first, output]) == 0
    assert main(["checkpoint", "import", output, second]) == 0
    assert "Wrote 5 tensors, 50 bytes" in capsys.readouterr().out
    assert main(["checkpoint", "diff", first, second]) == 0


def test_small_types_go_through_safetensors_or_become_wider(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("safetensors.numpy")
    small = {kind.name: np.asarray([1, 0, 1]).astype(kind.as_numpy_dtype) for kind in dtypes.SMALL_DTYPES}
    first = write(tmp_path / "first", **small, big=np.asarray([1j]))
    assert main(["checkpoint", "export", first, str(tmp_path / "out.safetensors")]) == 0
    assert "no strings or complex128: big" in capsys.readouterr().err
    assert main(["checkpoint", "import", str(tmp_path / "out.safetensors"), str(tmp_path / "second")]) == 0
    read = NewCheckpointReader(tmp_path / "second")
    kinds = {name: kind.name for name, kind in read.get_variable_to_dtype_map().items()}
    widened = {"float8_e4m3b11fnuz": "float32", "float4_e2m1fn": "float32", "int4": "int8", "int2": "int8"}
    widened |= {"uint4": "uint8", "uint2": "uint8"}
    assert kinds == {name: widened.get(name, name) for name in small}
    assert all(read.get_tensor(name).astype(int).tolist() == [1, 0, 1] for name in small)


def test_imported_arrays_are_chosen_and_renamed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(
        tmp_path / "in.npz", **{"layer.weight": np.ones((2, 2)), "other": np.zeros(3), "words": np.asarray(["a", "f\u00fcr"])}
    )
    given, made = str(tmp_path / "in.npz"), str(tmp_path / "made")
    command = ["checkpoint", "import", given, made]
    assert main([*command, "--only", "layer*", "--only", "words", "--rename", "layer.weight=dense/kernel"]) == 0
    read = NewCheckpointReader(made)
    assert read.get_variable_to_shape_map() == {"dense/kernel": [2, 2], "words": [2]}
    assert read.get_tensor("words").tolist() == [b"a", "f\u00fcr".encode()]
    assert main(command) == 2
    assert main([*command, "--overwrite", "--only", "none*"]) == 2
    assert main([*command, "--overwrite", "--rename", "none=x"]) == 2
    assert main([*command, "--overwrite", "--rename", "other=words"]) == 2
    told = capsys.readouterr().err.splitlines()
    for line, part in zip(told, ["--overwrite", "no array of", "no array 'none'", "two arrays"], strict=True):
        assert part in line


def _archive(name: str, content: bytes, compression: int | None = None) -> bytes:
    """A zip file of one member; with a number for its compression, which no reader may know."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, content)
    made = bytearray(file.getvalue())
    if compression is not None:
        made[8] = made[made.find(b"PK\x01\x02") + 10] = compression
    return bytes(made)


# Of an array of petabytes.
_HUGE = (
    b"\x93NUMPY\x01\x00\x50\x00" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000000,)}".ljust(79) + b"\n"
)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (
            "other.npz",
            _archive("readme.txt", b"words"),
            "other.npz: the archive is damaged or of objects: its member 'readme.txt'",
        ),
        ("unknown.npz", _archive("a.npy", b"", 97), "unknown.npz: the archive is damaged or of objects: That compression"),
        ("huge.npz", _archive("a.npy", _HUGE), "huge.npz: the archive is damaged or of objects: Unable to allocate"),
        ("bad.npz", b"no archive", "bad.npz is no archive of arrays"),
        ("empty.npz", b"", "empty.npz: the archive is damaged"),
        ("bad.safetensors", b"\xff" * 40, "bad.safetensors: Error while deserializing"),
        ("short.safetensors", b"\x02\0\0\0\0\0\0\0{", "short.safetensors: Error while deserializing"),
    ],
    ids=["another file", "unknown compression", "invented shape", "no archive", "empty archive", "no tensors", "short tensors"],
)
def test_a_damaged_file_is_no_checkpoint(
    name: str, content: bytes, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if name.endswith("safetensors"):
        pytest.importorskip("safetensors")
    (tmp_path / name).write_bytes(content)
    assert main(["checkpoint", "import", str(tmp_path / name), str(tmp_path / "made")]) == 2
    assert told in capsys.readouterr().err
    assert not list(tmp_path.glob("made*"))


def test_a_folder_lists_checkpoints_of_the_first_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = np.arange(3, dtype=np.float32)
    for name in ("model-3", "model-4-00000-of-00002", "model-4-00001-of-00002"):
        with SliceFileWriter(str(tmp_path / name)) as writer:
            writer.add("v" + name[-10:], values)
    (tmp_path / "model-3.meta").write_bytes(b"x" * 1000)
    assert main(["checkpoint", "ls", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines[1:]} == {"model-3", "model-4-?????-of-00002"}
    assert all(line.split()[-1] == "V1" for line in lines[1:])
    assert main(["checkpoint", "verify", str(tmp_path)]) == 0
    with (tmp_path / "model-3").open("r+b") as file:
        file.seek(20)
        file.write(b"xxxx")
    assert main(["checkpoint", "verify", str(tmp_path)]) == 1
    assert f"DataLossError: {tmp_path}/model-3: the table is damaged" in capsys.readouterr().err
