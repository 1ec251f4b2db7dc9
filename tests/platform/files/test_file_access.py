"""Code that runs for somebody else opens what lies below its roots, and nothing else, by whatever name."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from weft.checkpoint import files
from weft.errors import PermissionDeniedError
from weft.platform.files import gfile
from weft.platform.files.file_access import FileAccess, current_access, limited_to


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a file, beside a secret, to which links and names lead."""
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "open-too").mkdir()
    (tmp_path / "open-too" / "f").write_text("secret")
    root = tmp_path / "open"
    (root / "sub").mkdir(parents=True)
    (root / "f").write_text("open")
    (root / "out").symlink_to(tmp_path)
    (root / "in").symlink_to(root / "sub")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "dangling").symlink_to(tmp_path / "made")
    return root


@pytest.fixture
def access(root: Path) -> FileAccess:
    return FileAccess("/job:ps/task:0", [str(root)], ["memory"], "Ask for more.")


def test_what_lies_below_a_root_is_open(root: Path, access: FileAccess) -> None:
    with limited_to(access):
        for path in (f"{root}/f", f"file://{root}/f", f"{root}/sub/../f", f"{root}/in/../f"):
            assert gfile.GFile(path).read() == "open"
        gfile.MakeDirs(f"{root}/a/b")
        with gfile.GFile(f"{root}/a/b/c", "w") as file:
            file.write("new")
        assert gfile.Glob(f"{root}/a/*/c") == [f"{root}/a/b/c"]
        gfile.Rename(f"{root}/a/b/c", f"{root}/in/c")
        gfile.DeleteRecursively(f"{root}/a")
    assert (root / "sub" / "c").read_text() == "new"


@pytest.mark.parametrize(
    "name",
    [
        "../secret", "sub/../../secret", "out/secret", "link", "dangling", "../open-too/f", "no/../../secret", "[x]/../../made",
        "out", "..", "*/../../secret",
    ],
)  # fmt: skip
def test_nothing_leads_out_of_a_root(root: Path, access: FileAccess, name: str) -> None:
    path = f"{root}/{name}"
    with limited_to(access):
        for attempt in (
            lambda: gfile.GFile(path).read(), lambda: gfile.GFile(path, "w").write("x"), lambda: gfile.Stat(path),
            lambda: gfile.MakeDirs(path), lambda: gfile.DeleteRecursively(path), lambda: gfile.ListDirectory(path),
            lambda: gfile.Copy(path, f"{root}/g"), lambda: gfile.Rename(f"{root}/f", path), lambda: gfile.Glob(path),
            lambda: files.create(path), lambda: files.read_bytes(path), lambda: files.rename(f"{root}/f", path),
            lambda: files.keep_as(f"{root}/f", path), lambda: files.remove_directory_if_empty(path),
        ):  # fmt: skip
            with pytest.raises(PermissionDeniedError):
                attempt()
    assert (root.parent / "secret").read_text() == "secret"
    assert sorted(each.name for each in root.parent.iterdir()) == ["open", "open-too", "secret"]


def test_the_error_names_path_roots_and_remedy(root: Path, access: FileAccess) -> None:
    with limited_to(access), pytest.raises(PermissionDeniedError) as caught:
        gfile.GFile(f"{root}/out/secret")
    assert caught.value.message == (
        f"{root}/out/secret: graphs that run on /job:ps/task:0 may touch files below {str(root)!r} only, and this is "
        f"{str(root.parent / 'secret')!r}. Ask for more."
    )


def test_a_pattern_finds_only_what_is_open(root: Path, access: FileAccess) -> None:
    with limited_to(access):
        assert sorted(gfile.Glob(f"{root}/*")) == [f"{root}/f", f"{root}/in", f"{root}/sub"]
        assert gfile.Glob(f"{root}/*/secret") == []
        with pytest.raises(PermissionDeniedError):
            gfile.Glob(f"{root.parent}/*/f")
        with pytest.raises(PermissionDeniedError):
            gfile.Glob(f"{root.parent}/*/../open/f")


def test_relative_paths_count_from_the_current_directory(
    root: Path, access: FileAccess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    with limited_to(access):
        assert gfile.GFile("f").read() == "open"
        assert gfile.Glob("f*") == ["f"]
        with pytest.raises(PermissionDeniedError):
            gfile.GFile("../secret")


@pytest.mark.parametrize(
    ("url", "scheme"),
    [
        ("ftp://host/x", "ftp"), ("http://127.0.0.1/x", "http"), ("FTP://host/x", "ftp"), ("local:///etc/passwd", None),
        ("zip://a::memory://x.zip", "zip"), ("memory://x::ftp://host/y", "ftp"), ("simplecache::memory://x", "simplecache"),
        ("memory://x::simplecache::ftp://h/y", "simplecache"), ("memory://x::/etc/passwd", None),
        ("memory://x::file:///etc/passwd", None), ("memory://x::", ""), ("data:text/plain,x://y", "data:text/plain,x"),
    ],
)  # fmt: skip
def test_urls_of_other_schemes_are_refused_in_every_link_of_a_chain(access: FileAccess, url: str, scheme: str | None) -> None:
    expected = "may touch files below" if scheme is None else f"may not use URLs of the scheme {scheme}:// (allowed: memory://)"
    with limited_to(access), pytest.raises(PermissionDeniedError) as caught:
        gfile.GFile(url)
    assert expected in caught.value.message


def test_an_allowed_scheme_is_open(access: FileAccess) -> None:
    with limited_to(access):
        with gfile.GFile("memory://access/x", "w") as file:
            file.write("there")
        assert gfile.GFile("memory://access/x").read() == "there"


def test_no_root_opens_nothing_and_the_root_directory_everything(root: Path) -> None:
    assert FileAccess("t", ["/"], [], "").allows(str(root / "out" / "secret"))
    nothing = FileAccess("t", [], [], "")
    assert not nothing.allows(str(root / "f"))
    with limited_to(nothing), pytest.raises(PermissionDeniedError, match="below no directory at all only"):
        gfile.GFile(f"{root}/f")


def test_only_the_body_is_limited_and_only_on_its_thread(root: Path, access: FileAccess) -> None:
    seen: list[FileAccess | None] = []
    with limited_to(access):
        thread = threading.Thread(target=lambda: seen.append(current_access()))
        thread.start()
        thread.join()
        with limited_to(None):
            assert gfile.GFile(str(root.parent / "secret")).read() == "secret"
        assert current_access() is access
    assert current_access() is None
    assert seen == [None]
