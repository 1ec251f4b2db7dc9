"""An error in a notebook's cell, or in IPython, is shown with the cell's lines and one frame of weft, as on the console."""

from __future__ import annotations

import re

import nbclient
import nbformat
import pytest

_CELLS = (
    'import weft as tf\nimages = tf.placeholder(tf.float32, [None, 784], name="images")\nw = tf.Variable([1.0])',
    "tf.matmul(images, tf.zeros([100, 10]))",
    "tf.Session().run(w)",
    "tf.layers.dense(images, unit=3)",
    '{}["x"]',
)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What each cell shows of its error, without colours."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in _CELLS])
    folder = str(tmp_path_factory.mktemp("notebook"))
    nbclient.NotebookClient(
        notebook, timeout=120, allow_errors=True, kernel_name="python3", resources={"metadata": {"path": folder}}
    ).execute()
    texts = []
    for cell in notebook.cells:
        errors = [output for output in cell.outputs if output.output_type == "error"]
        texts.append("\n".join(re.sub(r"\x1b\[[0-9;]*m", "", line) for error in errors for line in error.traceback))
    return texts


@pytest.mark.timeout(180)
def test_an_error_while_building_names_the_cells(shown: list[str]) -> None:
    lines = shown[1].split("\n")
    assert lines[0] == "Traceback (most recent call last):"
    assert "Cell In[2], line 1" in lines[1]
    assert sum("/weft/" in line for line in lines) == 1
    assert "  a: images [?,784] float32 (In[1]:2)" in lines
    assert len(lines) < 12, shown[1]


@pytest.mark.timeout(180)
def test_an_error_of_a_run_has_no_frames_of_the_shell(shown: list[str]) -> None:
    text = shown[2]
    assert "Run session.run(tf.global_variables_initializer()) first" in text
    assert "Cell In[1], line 3" in text.partition("was built at")[2]
    assert "IPython" not in text
    assert "ipykernel_launcher" not in text
    assert len(text.split("\n")) < 20, text


@pytest.mark.timeout(180)
def test_a_hint_is_shown_and_errors_of_others_are_ipythons(shown: list[str]) -> None:
    assert "Did you mean 'units'?" in shown[3]
    assert shown[0] == ""
    assert "KeyError" in shown[4]
    assert "----> 1" in shown[4]
