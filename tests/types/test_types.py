"""What an editor sees: mypy and pyright let right programs pass, and refuse each line of the wrong ones that has to be refused.

A wrong line names its errors: `# E: mypy's code, pyright's rule`. Pyright comes with the package basedpyright, which carries
its program; its own rules are off.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import json
import os
import re
import runpy
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import weft as tf

_HERE = Path(__file__).parent
_ROOT = _HERE.parent.parent
_RIGHT = sorted((_HERE / "right").glob("*.py"))
_WRONG = sorted((_HERE / "wrong").glob("*.py"))
_MARK = re.compile(r"# E: ([\w-]+), (\w+)$")

Errors = dict[tuple[str, int], set[str]]


def _ran(*command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(_ROOT), "MYPYPATH": ""}
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=_ROOT, env=environment, capture_output=True, text=True, check=False
    ).stdout


def _mypy() -> Errors:
    found: Errors = defaultdict(set)
    paths = [str(path.relative_to(_ROOT)) for path in (*_RIGHT, *_WRONG)]
    text = _ran("mypy", "--explicit-package-bases", "--no-error-summary", "--hide-error-context", *paths)
    for path, line, code in re.findall(r"^(\S+?):(\d+): error: .*\[([\w-]+)\]$", text, re.M):
        found[str(_ROOT / path), int(line)].add(code)
    assert found, text
    return found


def _pyright() -> Errors:
    found: Errors = defaultdict(set)
    text = _ran("basedpyright", "--project", str(_HERE), "--pythonpath", sys.executable, "--outputjson")
    for diagnostic in json.loads(text)["generalDiagnostics"]:
        if diagnostic["severity"] == "error":
            found[diagnostic["file"], diagnostic["range"]["start"]["line"] + 1].add(diagnostic.get("rule", "none"))
    return found


def _wanted(group: int) -> Errors:
    found: Errors = {}
    for path in _WRONG:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if mark := _MARK.search(line):
                found[str(path), number] = {mark[group]}
    return found


def _compare(found: Errors, wanted: Errors) -> None:
    not_refused = {place: codes for place, codes in wanted.items() if not codes <= found.get(place, set())}
    refused = {place: codes for place, codes in found.items() if place not in wanted}
    assert not not_refused, "lines that have to be refused"
    assert not refused, "lines that are right"


@pytest.mark.timeout(400)
def test_mypy_refuses_the_wrong_lines_and_no_other() -> None:
    _compare(_mypy(), _wanted(1))


@pytest.mark.timeout(400)
def test_pyright_refuses_the_wrong_lines_and_no_other() -> None:
    _compare(_pyright(), _wanted(2))


def test_the_corpus_is_wide() -> None:
    assert len(_RIGHT) >= 10
    assert len(_wanted(1)) >= 120
    text = "\n".join(path.read_text(encoding="utf-8") for path in _RIGHT)
    names = set(re.findall(r"\btf(?:\.\w+)+", text))
    assert len(names) >= 150, len(names)


@pytest.fixture
def _fresh() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in _RIGHT])
def test_a_right_program_runs(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # Temporary folders that a program asks for go away with the test's.
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path(str(path), run_name="__main__")


def _renamed_imports(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    listed = {
        name.id for node in tree.body if isinstance(node, ast.Assign) for name in node.targets if isinstance(name, ast.Name)
    }
    if "__all__" in listed:
        return []
    return [
        f"{path.relative_to(_ROOT)}: {alias.name} as {alias.asname}"
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname is not None and alias.asname != alias.name and not alias.asname.startswith("_")
    ]


def test_no_door_hides_a_name_from_type_checkers_by_renaming_it_in_an_import() -> None:
    """`import a as b` is private to a typed module; `b = a` after `import a as _a` is public."""
    doors = [_ROOT / "weft" / "namespace.py", *sorted((_ROOT / "weft" / "api").rglob("*.py"))]
    assert [name for path in doors for name in _renamed_imports(path)] == []


def test_dir_shows_the_public_names_only() -> None:
    listed = (_ROOT / "tests" / "public_api.txt").read_text(encoding="utf-8").split()
    public = {name.removeprefix("tf.") for name in listed if name.count(".") == 1}
    assert {name for name in dir(tf) if not name.startswith("__")} == {name for name in public if not name.startswith("__")}


def test_dir_of_a_public_module_shows_the_public_names_only() -> None:
    public = defaultdict(set)
    for name in (_ROOT / "tests" / "public_api.txt").read_text(encoding="utf-8").split():
        home, _, short = name.rpartition(".")
        public[home].add(short)
    wrong = {}
    for home, names in public.items():
        module = functools.reduce(getattr, home.split(".")[1:], tf)
        if isinstance(module, ModuleType) and module.__name__.startswith("weft.api."):
            shown = {name for name in dir(module) if not name.startswith("_")}
            if extra := {name for name in shown - names if not isinstance(getattr(module, name), ModuleType)}:
                wrong[home] = extra
            assert {name for name in names if not name.startswith("_")} <= shown, home
    assert wrong == {}
