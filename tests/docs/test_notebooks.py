"""The tutorial's notebooks: they run from top to bottom without a warning, and show what they hold."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

from tests import alarms

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("weft_notebooks", ROOT / "tools" / "notebooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _weft_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def marked(path: Path) -> Any:
    # All but the first start clusters of processes.
    return pytest.param(path, marks=[] if path.name.startswith("1-") else [pytest.mark.slow], id=path.stem)


@pytest.mark.parametrize("path", [marked(path) for path in NOTEBOOKS])
def test_a_notebook_shows_what_it_holds(tool: ModuleType, path: Path) -> None:
    assert tool.differences(path, write=False, unexpected=alarms.unexpected) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_holds_the_outputs_of_one_run_and_leads_to_the_next(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    following = NOTEBOOKS[NOTEBOOKS.index(path) + 1 :][:1]
    told = "".join("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    for other in following:
        assert f"({other.name})" in told


def test_the_readme_and_pictures_are_there() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for path in NOTEBOOKS:
        assert f"docs/notebooks/{path.name}" in readme
    placement = (ROOT / "docs" / "notebooks" / "3-placement-and-the-timeline.ipynb").read_text(encoding="utf-8")
    assert placement.count("image/svg+xml") == 2


def test_a_cell_that_fails_or_shows_something_else_is_told(tool: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "notebook.ipynb"
    cell = nbformat.v4.new_code_cell("x = 2\nprint(x)\nx + 1")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
    assert "shows ['2\\n', '3']" in tool.differences(path, write=False)[0]
    assert tool.differences(path, write=True) == []
    assert tool.differences(path, write=False) == []


def test_an_alarm_in_the_log_is_told(tool: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "notebook.ipynb"
    cell = nbformat.v4.new_code_cell("import sys\n_ = sys.stderr.write('INFO:weft:fine\\nWARNING:weft:not so fine\\n')")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
    assert tool.differences(path, write=False, unexpected=alarms.unexpected) == [f"{path} logs WARNING:weft:not so fine"]


def test_a_warning_is_an_error(tool: ModuleType) -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in ("import warnings", "warnings.warn('never mind')")]
    with pytest.raises(RuntimeError, match="UserWarning: never mind"):
        tool.run(nbformat.v4.new_notebook(cells=cells))
