"""Runs notebooks: `python tools/notebooks.py [--write] NOTEBOOK...`.

Each notebook runs in a kernel of its own, with warnings as errors, and what its cells give is compared with the outputs that
it holds; `--write` stores them instead. A picture is compared by what it names, since its times are new in each run.
"""

from __future__ import annotations

import argparse
import copy
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

TIMEOUT_S: Final = 100
# The kernel's own code, and the loop that it runs in, are not what is tested.
_OTHERS: Final = "warnings.filterwarnings('default', module='ipykernel|tornado')"
_STRICT: Final = f"import warnings; warnings.simplefilter('error'); {_OTHERS}"
_OPTIONS: Final = [f"--IPKernelApp.exec_lines={_STRICT}", "--log-level=ERROR", "--InteractiveShell.colors=nocolor"]
# Kernels listen at Unix sockets, which no other user can reach.
_CONFIG: Final = Config(KernelManager={"transport": "ipc"})
# Tracebacks name the cell's file, which would be another one in each run.
_CELL_NAME: Final = {"IPYKERNEL_CELL_NAME": "<cell>"}


def run(notebook: Any) -> list[str]:
    """Run a notebook's cells in a new kernel, which gives them their outputs, log lines aside.

    Returns:
        The log lines.

    Raises:
        RuntimeError: a cell failed; tells its error.
        TimeoutError: one took longer than TIMEOUT_S.
    """
    metadata = copy.deepcopy(notebook.metadata)
    client = NotebookClient(
        notebook, config=_CONFIG, timeout=TIMEOUT_S, extra_arguments=_OPTIONS, record_timing=False, coalesce_streams=True
    )
    try:
        client.execute(env=os.environ | _CELL_NAME)
    except CellExecutionError as error:
        raise RuntimeError(str(error)) from None
    notebook.metadata = metadata  # without the version of Python, which differs from run to run
    logged: list[str] = []
    for cell in _code(notebook):
        logged += [line for output in cell.outputs if output.get("name") == "stderr" for line in output.text.splitlines()]
        cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        for output in cell.outputs:
            if "image/svg+xml" in output.get("data", {}):
                output.data["text/plain"] = "<a picture>"
    return logged


def comparable(outputs: Sequence[Any]) -> list[Any]:
    """Outputs without what differs from run to run."""
    texts: list[Any] = []
    for output in outputs:
        data = output.get("data", {})
        if "image/svg+xml" in data:
            titles = re.findall(r"<title>(.*?)(?:, \d+ µs)?</title>", data["image/svg+xml"])
            texts.append(sorted(titles))
        else:
            texts.append(output.get("text") or data.get("text/plain", ""))
    return texts


def differences(path: Path, write: bool, unexpected: Callable[[Sequence[str]], list[str]] | None = None) -> list[str]:
    """Run a notebook; store its outputs, or tell where they are not those that it holds.

    Args:
        path: the notebook's file.
        write: whether to store.
        unexpected: picks the log lines that should not be there; None for none.
    """
    notebook = nbformat.read(path, as_version=4)
    held = [copy.deepcopy(cell.outputs) for cell in _code(notebook)]
    logged = run(notebook)
    if write:
        nbformat.write(notebook, path)
        return []
    found = [] if unexpected is None else [f"{path} logs {line}" for line in unexpected(logged)]
    for number, (cell, outputs) in enumerate(zip(_code(notebook), held, strict=True), start=1):
        wanted, given = comparable(outputs), comparable(cell.outputs)
        if wanted != given:
            found.append(f"{path}, cell {number}:\n{cell.source}\nshows {given}\nand not {wanted}")
    return found


def _code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def main() -> int:
    """Run the notebooks that the command line names."""
    parser = argparse.ArgumentParser(description="Run notebooks and compare or store their outputs.")
    parser.add_argument("--write", action="store_true", help="store the outputs")
    parser.add_argument("notebooks", nargs="+", type=Path)
    arguments = parser.parse_args()
    found = [difference for path in arguments.notebooks for difference in differences(path, arguments.write)]
    print("\n\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
