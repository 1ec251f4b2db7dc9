"""The site's parts: docstrings as Markdown, signatures, the reference of all public names, and that no page is forgotten."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tools.site import reference
from tools.site.docstring import markdown, summary
from tools.site.signature import signature_of
from weft.framework.types import dtypes

ROOT = Path(__file__).parents[2]
_NAMES = (ROOT / "tests" / "public_api.txt").read_text("utf-8").split()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("site") / "reference"
    reference.write(folder, _NAMES)
    return {path.stem: path.read_text("utf-8") for path in folder.glob("*.md")}


def test_sections_of_a_docstring_become_definitions() -> None:
    text = """Do it.

    It does `a < b` and more than <this>, say *args:

        do(1)

    Args:
        x, y: where
            to do it.

    Raises:
        ValueError: not there.
    """
    assert markdown(text).splitlines() == [
        "Do it.", "", "It does `a < b` and more than \\<this>, say \\*args:", "", "    do(1)", "",
        "**Arguments**", "", "`x`, `y`", ": where", "  to do it.", "", "", "**Raises**", "", "`ValueError`", ": not there.",
    ]  # fmt: skip
    assert summary("Does it,\nall of it. And more.\n\nAnd more.") == "Does it, all of it."


def test_a_signature_has_types_and_defaults_that_can_be_read() -> None:
    def act(a: int, /, b: str = "x", *, kind: object = dtypes.float32, how: object = len, odd: object = object()) -> None:
        raise NotImplementedError

    assert signature_of(act) == (
        "(a: int, /, b: str = 'x', *, kind: object = tf.float32, how: object = len, odd: object = ...) -> None"
    )


def test_every_public_name_stands_on_the_page_of_its_module(pages: dict[str, str]) -> None:
    missing = []
    for name in _NAMES:
        home, _, short = name.rpartition(".")
        is_module = name in pages or any(each.startswith(f"{name}.") for each in _NAMES)
        if not is_module and f"`{short} <{name}>`" not in pages.get(home, "") and f"| `{name}` |" not in pages.get(home, ""):
            missing.append(name)
    # Modules under a second name are documented under the first.
    assert missing == [name for name in missing if isinstance(reference._resolved(name), ModuleType)]


def test_what_has_several_names_is_documented_once(pages: dict[str, str]) -> None:
    everything = "\n".join(pages.values())
    assert len(re.findall(r"^:::\{py:function\} tf\.math\.add\(", everything, flags=re.M)) == 1
    assert not re.search(r"^:::\{py:function\} tf\.add\(", everything, flags=re.M)
    assert "| `tf.add` | {py:obj}`tf.math.add` |" in pages["tf"]


def test_classes_have_their_methods(pages: dict[str, str]) -> None:
    assert re.search(r"^:::\{py:method\} tf\.train\.Saver\.save\(sess", pages["tf.train"], flags=re.M)
    assert "Is a {py:obj}`tf.train.Optimizer`." in pages["tf.train"]


def test_the_contents_have_every_page() -> None:
    listed = re.findall(r"^docs/([\w/-]+)$", (ROOT / "docs" / "contents.md").read_text("utf-8"), flags=re.M)
    there = {path.stem for path in (ROOT / "docs").glob("*.md")} | {
        f"notebooks/{path.stem}" for path in (ROOT / "docs" / "notebooks").glob("*.ipynb")
    }
    assert sorted(listed) == sorted(there - {"contents"})


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="needs weft[docs]")
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tools.site", "--stored-outputs", str(tmp_path / "site")]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (tmp_path / "site" / "index.html").exists()
