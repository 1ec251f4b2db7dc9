"""docs/design.md tells of the house as it stands, and tables of the documents are whole."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import weft as tf

ROOT = Path(__file__).parents[2]
DESIGN = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
DOCUMENTS = sorted((*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")))


def floors() -> list[set[str]]:
    """The packages of each floor, by the import contracts."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (each for each in project["tool"]["importlinter"]["contracts"] if each["name"] == "layers")
    return [set(floor.split(" | ")) for floor in layers["layers"]]


def test_the_table_of_packages_has_the_floors_of_the_contracts() -> None:
    first_cells = re.findall(r"^\| (`.*?) \|", DESIGN.partition("## The house")[2].partition("\n\n## ")[0], flags=re.M)
    rows = [re.findall(r"`([\w.]+)`", cell) for cell in first_cells]
    told = [package for row in rows for package in row]
    # The examples' data is no part of the engine, nor is the command's entry.
    contracts = [floor - {"examples", "__main__"} for floor in floors()]
    assert sorted(told) == sorted(package for floor in contracts for package in floor)
    place = {package: number for number, floor in enumerate(contracts) for package in floor}
    assert [place[package] for package in told] == sorted(place[package] for package in told)


def test_every_package_stands_in_the_contracts() -> None:
    packages = {path.name for path in (ROOT / "weft").iterdir() if (path / "__init__.py").exists()}
    assert packages | {"__main__", "errors", "namespace", "proto"} == {package for floor in floors() for package in floor} | {
        "proto"
    }


def test_the_public_names_of_the_design_exist() -> None:
    named = set(re.findall(r"`(?:weft\.|tf\.)([a-z_]\w*)", DESIGN)) | {"Session", "cond", "while_loop"}
    assert sorted(name for name in named if not hasattr(tf, name)) == []
    assert hasattr(tf.train, "MonitoredTrainingSession")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_each_row_of_a_table_has_as_many_cells_as_its_head(document: Path) -> None:
    head, torn = 0, []
    for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
        cells = len(re.findall(r"(?<!\\)\|", re.sub(r"`[^`]*`", "", line))) if line.startswith("|") else 0
        if cells and head and cells != head:
            torn.append(f"{document.name}:{number}")
        head = cells and (head or cells)
    assert torn == []


def test_the_glossary_explains_each_word_once_and_in_order() -> None:
    words = re.findall(r"^- \*\*(.+?)\*\*:", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"), flags=re.M)
    assert words == sorted(words, key=str.lower)
    assert len(words) == len({word.lower() for word in words}) > 20
