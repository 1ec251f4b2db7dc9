"""The graphs that run on a server touch the files that it was started with, and no others."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import weft
import weft as tf
from weft.distributed.server.file_roots import ROOTS_VARIABLE, SCHEMES_VARIABLE, file_access_of
from weft.distributed.server.server import Server
from weft.errors import PermissionDeniedError
from weft.ops.control_flow.assertion import print_v2_node
from weft.ops.io.checkpoint_io import merge_v2_checkpoints, restore_v2, save_v2

TASK = "/job:a/replica:0/task:0"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    root = tmp_path / "open"
    root.mkdir()
    (tmp_path / "secret").write_text("secret\t1\n")
    with Server({"a": ["localhost:0"]}, file_roots=[root]) as made, tf.Graph().as_default():
        yield made


def _reader(make: Callable[[], tf.WholeFileReader], path: str) -> tf.Tensor:
    queue = tf.FIFOQueue(1, tf.string, [[]])
    with tf.control_dependencies([queue.enqueue(path)]):
        handle = tf.identity(queue.size())
    with tf.control_dependencies([handle]):
        return make().read(queue).value


def _table(path: str) -> tf.Operation:
    initializer = tf.lookup.TextFileInitializer(path, tf.string, 0, tf.int64, 1, delimiter="\t")
    table = tf.lookup.StaticHashTable(initializer, -1)
    return table.initializer


def _sampler(path: str) -> tf.Tensor:
    return tf.nn.fixed_unigram_candidate_sampler([[0]], 1, 1, True, 5, vocab_file=path)[0]


_OPS: list[Callable[[str], tf.Tensor | tf.Operation]] = [
    tf.read_file,
    lambda path: tf.write_file(path, "x"),
    lambda path: tf.matching_files(path + "*"),
    lambda path: save_v2(path, ["x"], [""], [tf.constant(1.0)]),
    lambda path: restore_v2(path, ["x"], [""], dtypes=[tf.float32])[0],
    lambda path: merge_v2_checkpoints([path], path + "-merged"),
    lambda path: _reader(tf.WholeFileReader, path),
    lambda path: _reader(tf.TextLineReader, path),
    lambda path: _reader(tf.TFRecordReader, path),
    lambda path: _reader(lambda: tf.FixedLengthRecordReader(1), path),
    _table,
    _sampler,
    lambda path: print_v2_node("x", output_stream=f"file://{path}"),
]


@pytest.mark.parametrize("make", _OPS)
@pytest.mark.parametrize("name", ["secret", "open/../secret"])
def test_every_op_that_opens_files_is_refused_those_outside(
    server: Server, tmp_path: Path, make: Callable[[str], tf.Tensor | tf.Operation], name: str
) -> None:
    before = sorted(tmp_path.rglob("*"))
    fetch = make(str(tmp_path / name))
    refusal = r"may touch files below .*open' only.*file_roots=\[DIRECTORY"
    with tf.Session(server.target) as session, pytest.raises(PermissionDeniedError, match=refusal):
        session.run(fetch)
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "secret").read_text() == "secret\t1\n"


def test_a_graph_is_at_home_below_the_roots(server: Server, tmp_path: Path) -> None:
    v = tf.Variable([1.0, 2.0])
    saver = tf.train.Saver()
    with tf.Session(server.target) as session:
        session.run(v.initializer)
        path = saver.save(session, str(tmp_path / "open" / "ckpt"))
        session.run(v.assign([0.0, 0.0]))
        saver.restore(session, path)
        assert session.run(v).tolist() == [1, 2]


def test_loops_and_branches_are_no_way_around(server: Server, tmp_path: Path) -> None:
    path = str(tmp_path / "secret")
    flag = tf.placeholder(tf.bool, [])
    branch = tf.cond(flag, lambda: tf.read_file(path), lambda: tf.constant(""))
    loop = tf.while_loop(lambda i, _: i < 2, lambda i, _: (i + 1, tf.read_file(path)), [0, ""])[1]
    with tf.Session(server.target) as session:
        for fetch in (branch, loop):
            with pytest.raises(PermissionDeniedError, match="may touch files below"):
                session.run(fetch, {flag: True})


def test_a_session_s_own_cluster_is_no_way_around(server: Server, tmp_path: Path) -> None:
    config = tf.ConfigProto()
    config.cluster_def.job.add(name="other").tasks[0] = server.target.removeprefix("grpc://")
    read = tf.read_file(str(tmp_path / "secret"))
    with tf.Session(server.target, config=config) as session, pytest.raises(PermissionDeniedError, match="/job:"):
        session.run(read)


def test_a_function_of_the_server_s_own_process_opens_what_it_likes(server: Server, tmp_path: Path) -> None:
    text = tf.py_func(lambda: tf.gfile.GFile(str(tmp_path / "secret")).read(), [], tf.string)
    with tf.Session(server.target) as session:
        assert session.run(text) == b"secret\t1\n"


def test_urls_need_their_scheme_to_be_allowed(server: Server) -> None:
    refusal = r"zip:// \(allowed: none\).*url_schemes=\[SCHEME"
    with tf.Session(server.target) as session, pytest.raises(PermissionDeniedError, match=refusal):
        session.run(tf.read_file("zip://a::ftp://127.0.0.1:9/x.zip"))
    with Server({"a": ["localhost:0"]}, file_roots=[], url_schemes=["memory"]) as other, tf.Session(other.target) as session:
        session.run(tf.write_file("memory://roots/x", "there"))
        assert session.run(tf.read_file("memory://roots/x")) == b"there"


def test_a_server_on_loopback_opens_everything(tmp_path: Path) -> None:
    assert file_access_of(TASK, "localhost", None, None, {}) is None


def test_another_server_opens_its_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    access = file_access_of(TASK, "192.0.2.7", None, None, {})
    assert access is not None
    assert access.roots == (os.path.realpath(tmp_path / "work"),)
    assert not access.schemes


@pytest.mark.parametrize("here", ["home", "."])
def test_a_home_is_not_opened_by_being_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: str
) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / here)
    access = file_access_of(TASK, "192.0.2.7", None, None, {})
    assert access is not None
    assert access.roots == ()


def test_the_environment_says_what_the_program_does_not(tmp_path: Path) -> None:
    environ = {ROOTS_VARIABLE: f"{tmp_path}/a{os.pathsep}{tmp_path}/b", SCHEMES_VARIABLE: "gs, s3"}
    access = file_access_of(TASK, "localhost", None, None, environ)
    assert access is not None
    assert access.roots == (os.path.realpath(tmp_path / "a"), os.path.realpath(tmp_path / "b"))
    assert access.schemes == {"gs", "s3"}
    given = file_access_of(TASK, "localhost", [tmp_path / "c"], [], environ)
    assert given is not None
    assert (given.roots, given.schemes) == ((os.path.realpath(tmp_path / "c"),), frozenset())


_WAYS_TO_FILES = frozenset(("fsspec", "glob", "pathlib", "shutil", "tempfile", "fileinput"))
_OF_OS = frozenset(("open", "stat", "listdir", "scandir", "rename", "replace", "remove", "unlink", "mkdir", "makedirs", "link"))


@pytest.mark.parametrize("package", ["ops", "checkpoint", "runtime"])
def test_files_are_opened_in_one_place(package: str) -> None:
    """Kernels come to files by `weft.platform.files.file_system`, which is where they are limited."""
    own = Path(weft.__file__).parent
    # These have asked `file_system` for what they open; the last one opens the user's folder for code.
    trusted = {own / "checkpoint" / "files.py", own / "checkpoint" / "leftovers.py", own / "runtime/xla/code_cache.py"}
    for path in sorted({*(own / package).rglob("*.py")} - trusted):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            found = ""
            if isinstance(node, ast.Import | ast.ImportFrom):
                modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                found = next((module for module in modules if module.partition(".")[0] in _WAYS_TO_FILES), "")
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                found = "open" if node.func.id == "open" else ""
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("os", "io"):
                found = node.attr if node.attr in _OF_OS else ""
            assert not found, f"{path}:{getattr(node, 'lineno', 0)} uses {found}"
