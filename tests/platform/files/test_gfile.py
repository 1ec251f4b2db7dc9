import os
import uuid

import pytest

from weft import errors
from weft.platform.files import gfile


@pytest.fixture(params=["local", "file url", "remote"])
def root(request, tmp_path):
    """A directory with the file `f` and the directory `d`, in which are `a` and the directory `s`."""
    if request.param == "remote":
        path = f"memory://{uuid.uuid4().hex}"
    else:
        path = str(tmp_path) if request.param == "local" else f"file://{tmp_path}"
    gfile.MakeDirs(f"{path}/d/s")
    for name, content in {"f": "ab\ncdé\nx", "d/a": "1"}.items():
        with gfile.GFile(f"{path}/{name}", "w") as file:
            file.write(content)
    yield path
    gfile.DeleteRecursively(path)


def test_text_is_decoded_and_bytes_are_not(root):
    assert gfile.GFile(f"{root}/f").read() == "ab\ncdé\nx"
    assert gfile.GFile(f"{root}/f", "rb").read() == "ab\ncdé\nx".encode()


def test_lines_keep_their_newlines(root):
    lines = ["ab\n", "cdé\n", "x"]
    assert gfile.GFile(f"{root}/f").readlines() == lines
    assert list(gfile.Open(f"{root}/f")) == lines
    assert gfile.FastGFile(f"{root}/f").readline() == "ab\n"


def test_seek_tell_and_size_count_bytes(root):
    with gfile.GFile(f"{root}/f") as file:
        assert file.size() == 9
        assert file.read(2) == "ab"
        assert file.tell() == 2
        file.seek(1, 1)
        assert file.read(2) == "cd"
        file.seek(-1, 2)
        assert file.read() == "x"
        file.seek(position=0)
        assert file.tell() == 0


def test_append_adds_to_the_end(root):
    with gfile.GFile(f"{root}/d/a", "a") as file:
        file.write(b"2")
    assert gfile.GFile(f"{root}/d/a").read() == "12"


def test_a_file_is_opened_by_its_first_use(root):
    gfile.GFile(f"{root}/new", "w").close()
    assert not gfile.Exists(f"{root}/new")
    missing = gfile.GFile(f"{root}/missing")
    with pytest.raises(errors.NotFoundError, match="missing; No such file or directory"):
        missing.read()


def test_reads_see_writes_after_flush(tmp_path):
    with gfile.GFile(tmp_path / "p", "w+") as file:
        file.write("hello")
        file.flush()
        assert file.read() == "hello"


def test_an_unknown_mode_is_the_callers_mistake():
    with pytest.raises(errors.InvalidArgumentError, match="mode is not 'r' or 'w' or 'a'"):
        gfile.GFile("f", "z")


def test_a_file_is_read_or_written_as_its_mode_says(root):
    with pytest.raises(errors.PermissionDeniedError, match="isn't open for writing"):
        gfile.GFile(f"{root}/f").write("x")
    with pytest.raises(errors.PermissionDeniedError, match="isn't open for reading"):
        gfile.GFile(f"{root}/f", "w").read()


def test_seek_needs_one_offset_and_a_known_whence(root):
    file = gfile.GFile(f"{root}/f")
    with pytest.raises(TypeError, match="offset argument required"):
        file.seek()
    with pytest.raises(TypeError, match="simultaneously"):
        file.seek(1, position=1)
    with pytest.raises(errors.InvalidArgumentError, match="Valid values are 0, 1, or 2"):
        file.seek(0, 5)


def test_only_text_and_bytes_are_written(root):
    with pytest.raises(TypeError, match="got 3"):
        gfile.GFile(f"{root}/n", "w").write(3)


def test_a_directory_has_no_content(root):
    with pytest.raises(errors.FailedPreconditionError, match="Is a directory"):
        gfile.GFile(f"{root}/d").read()


def test_exists_and_is_directory_tell_what_is_there(root):
    names = ["f", "d", "none", "f/below"]
    assert [gfile.Exists(f"{root}/{name}") for name in names] == [True, True, False, False]
    assert [gfile.IsDirectory(f"{root}/{name}") for name in names] == [False, True, False, False]
    assert not gfile.Exists("")


def test_stat_tells_length_and_kind(root):
    status = gfile.Stat(f"{root}/f")
    assert (status.length, status.is_directory) == (9, False)
    assert status.mtime_nsec > 0
    assert gfile.Stat(f"{root}/d").is_directory
    with pytest.raises(errors.NotFoundError):
        gfile.Stat(f"{root}/none")


def test_making_a_directory_that_is_there_is_fine(root):
    gfile.MkDir(f"{root}/d")
    gfile.MakeDirs(f"{root}/d/s")
    with pytest.raises(errors.FailedPreconditionError, match="f is not a directory"):
        gfile.MakeDirs(f"{root}/f")


def test_the_process_own_folder_is_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gfile.MakeDirs("")
    gfile.MakeDirs(b"")
    assert os.listdir() == []


def test_mkdir_needs_the_parent(tmp_path):
    with pytest.raises(errors.NotFoundError, match="No such file or directory"):
        gfile.MkDir(tmp_path / "x" / "y")


def test_list_directory_gives_names(root):
    assert sorted(gfile.ListDirectory(f"{root}/d")) == ["a", "s"]
    for name in ("f", "none"):
        with pytest.raises(errors.NotFoundError, match=f"Could not find directory .*{name}"):
            gfile.ListDirectory(f"{root}/{name}")


def test_walk_visits_directories_in_either_order(root):
    entries = [(f"{root}/d", ["s"], ["a"]), (f"{root}/d/s", [], [])]
    assert list(gfile.Walk(f"{root}/d")) == entries
    assert list(gfile.Walk(f"{root}/d", in_order=False)) == entries[::-1]
    assert list(gfile.Walk(f"{root}/none")) == []


def test_glob_matches_one_level_and_hidden_names(tmp_path):
    for name in ("a.txt", ".b.txt", "c"):
        (tmp_path / name).touch()
    assert sorted(map(os.path.basename, gfile.Glob(tmp_path / "*.txt"))) == [".b.txt", "a.txt"]
    assert gfile.Glob([f"{tmp_path}/c", f"{tmp_path}/none*"]) == [f"{tmp_path}/c"]


def test_a_pattern_whose_folder_is_not_there_names_the_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(
        errors.NotFoundError, match=rf"{tmp_path}/nodir; No such file or directory: .* for {tmp_path}/nodir/x\*"
    ):
        gfile.Glob([f"{tmp_path}/*", f"{tmp_path}/nodir/x*"])
    with pytest.raises(errors.FailedPreconditionError, match=f"{tmp_path}/file; Not a directory"):
        gfile.Glob(f"{tmp_path}/file/*")
    # Below a sign that matches nothing no folder is meant.
    assert gfile.Glob(f"{tmp_path}/no*/x/*") == []


def test_glob_of_a_url_gives_urls(root):
    assert [path.rpartition("/")[2] for path in gfile.Glob(f"{root}/d/a*")] == ["a"]
    assert all(gfile.Exists(path) for path in gfile.Glob(f"{root}/*"))


def test_remove_deletes_files_only(root):
    gfile.Remove(f"{root}/f")
    assert not gfile.Exists(f"{root}/f")
    with pytest.raises(errors.NotFoundError):
        gfile.Remove(f"{root}/f")
    with pytest.raises(errors.FailedPreconditionError, match="Is a directory"):
        gfile.Remove(f"{root}/d")


def test_delete_recursively_takes_everything_below(root):
    gfile.DeleteRecursively(f"{root}/d")
    assert not gfile.Exists(f"{root}/d/a")
    with pytest.raises(errors.NotFoundError):
        gfile.DeleteRecursively(f"{root}/none")


@pytest.mark.parametrize("move", [gfile.Copy, gfile.Rename])
def test_copy_and_rename_overwrite_only_when_told(root, move):
    with pytest.raises(errors.AlreadyExistsError, match="file already exists"):
        move(f"{root}/f", f"{root}/d/a")
    move(f"{root}/f", f"{root}/d/a", overwrite=True)
    assert gfile.GFile(f"{root}/d/a").size() == 9
    assert gfile.Exists(f"{root}/f") == (move is gfile.Copy)
    with pytest.raises(errors.NotFoundError):
        move(f"{root}/none", f"{root}/other")


def test_copy_crosses_file_systems_and_rename_does_not(root, tmp_path):
    remote = f"memory://{uuid.uuid4().hex}"
    gfile.Copy(f"{root}/f", f"{remote}-copy")
    assert gfile.GFile(f"{remote}-copy").size() == 9
    with pytest.raises(errors.UnimplementedError, match="different file systems"):
        gfile.Rename(f"{remote}-copy", tmp_path / "x")
    gfile.Remove(f"{remote}-copy")


def test_a_scheme_that_nothing_serves_is_named():
    with pytest.raises(errors.UnimplementedError, match="no file system for nowhere://"):
        gfile.Exists("nowhere://x")


def test_paths_may_be_bytes(tmp_path):
    assert gfile.Exists(os.fsencode(tmp_path))


def test_a_copy_into_a_directory_that_is_missing_names_the_target(tmp_path):
    source, target = tmp_path / "vocabulary", tmp_path / "missing" / "vocabulary"
    source.write_text("a")
    with pytest.raises(errors.NotFoundError, match=f"{target}; No such file or directory"):
        gfile.Copy(str(source), str(target))
    with pytest.raises(errors.NotFoundError, match=f"{tmp_path / 'none'}; No such file"):
        gfile.Copy(str(tmp_path / "none"), str(target))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="takes Linux's device that is full")
@pytest.mark.parametrize("act", ["write", "flush", "close"])
def test_a_disk_that_is_full_is_the_error_of_tensorflow(act):
    """The class and the words of TensorFlow 1.15.5, which was asked on a full tmpfs."""
    file = gfile.GFile("/dev/full", "w")
    file.write("x" * (0 if act == "write" else 100))
    with pytest.raises(errors.ResourceExhaustedError, match=r"^/dev/full; No space left on device$"):
        file.write("x" * 1_000_000) if act == "write" else getattr(file, act)()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="takes Linux's device that is full")
def test_a_file_that_is_left_with_what_it_could_not_write_says_so(caplog):
    with caplog.at_level("WARNING", "weft"):
        gfile.GFile("/dev/full", "w").write("x")
    assert "not in the file: /dev/full; No space left on device" in caplog.text


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
def test_a_file_that_outlives_its_module_is_closed_without_a_word(tmp_path, monkeypatch):
    file = gfile.GFile(str(tmp_path / "late.txt"), "w")
    file.write("said")
    with monkeypatch.context() as emptied:  # as the interpreter does at its end
        for name in [name for name in vars(gfile) if not name.startswith("__")]:
            emptied.setattr(gfile, name, None)
        del file
    assert (tmp_path / "late.txt").read_text() == "said"
