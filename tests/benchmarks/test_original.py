"""What TensorFlow 1.15 runs is Python 3.7: its files are read by that grammar, and name no newer thing at run time."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from benchmarks.catalogue import MEASURES, ORIGINAL_FAMILIES
from benchmarks.framework import ROOT


def _files() -> list[Path]:
    """The programs, and what of the harness they import, directly or not."""
    found, waiting = set[Path](), [ROOT / "benchmarks/programs" / f"{family}.py" for family in sorted(ORIGINAL_FAMILIES)]
    waiting += [ROOT / "benchmarks/programs/__main__.py", ROOT / "benchmarks/children.py"]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "benchmarks":
                folder = ROOT / Path(*node.module.split("."))
                candidates = [folder.with_suffix(".py"), *(folder / f"{alias.name}.py" for alias in node.names)]
                waiting += [each for each in candidates if each.exists()]
    return sorted(found)


def test_each_family_has_a_measure() -> None:
    assert {measure.family for measure in MEASURES} >= ORIGINAL_FAMILIES


@pytest.mark.parametrize("path", _files(), ids=lambda path: path.stem)
def test_it_is_written_in_python_3_7(path: Path) -> None:
    source = path.read_text()
    tree = ast.parse(source, feature_version=(3, 7))
    assert "from __future__ import annotations" in source
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "zip":
            assert not node.keywords, f"zip has no `strict` in Python 3.7: line {node.lineno}"
    # An alias of a type is evaluated, unlike an annotation.
    aliases = [node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript)]
    assert not [node.lineno for node in aliases]
