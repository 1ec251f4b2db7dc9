"""Runs notebooks without Jupyter: `python tools/notebooks.py [--write] NOTEBOOK...`.

Each notebook runs in a process of its own, with warnings as errors, and what its cells give is compared with the outputs that
it holds; `--write` stores them instead. A picture is compared by what it names, since its times are new in each run.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

TIMEOUT_S: Final = 100
# What a kernel does for a notebook: cells share one namespace, the value of a last expression is shown, unless it is None.
_KERNEL: Final = """
import ast as _ast, contextlib as _contextlib, io as _io, json as _json, sys as _sys

def _run(source):
    tree = _ast.parse(source)
    last = _ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], _ast.Expr) else None
    printed, value = _io.StringIO(), None
    with _contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), globals())
        if last is not None:
            value = eval(compile(last, "<cell>", "eval"), globals())
    picture = getattr(value, "_repr_svg_", None)
    shown = None if value is None else {"image/svg+xml": picture()} if picture else {"text/plain": repr(value)}
    return [printed.getvalue(), shown]

_results = [_run(_cell) for _cell in _json.load(_sys.stdin)]
_json.dump(_results, _sys.stdout)
"""


def run(cells: Sequence[str]) -> list[list[dict[str, Any]]]:
    """Run cells in a new process; returns each one's outputs as a notebook holds them.

    Raises:
        RuntimeError: a cell failed; tells what the process printed.
        subprocess.TimeoutExpired: they took longer than TIMEOUT_S.
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _KERNEL],
        input=json.dumps(cells), capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return [_outputs(number, printed, shown) for number, (printed, shown) in enumerate(json.loads(done.stdout), start=1)]


def _outputs(number: int, printed: str, shown: dict[str, str] | None) -> list[dict[str, Any]]:
    outputs: list[dict[str, Any]] = []
    if printed:
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed)})
    if shown is not None:
        data = {kind: _lines(text) for kind, text in shown.items()}
        data.setdefault("text/plain", ["<a picture>"])
        outputs.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def comparable(outputs: Sequence[dict[str, Any]]) -> list[Any]:
    """Outputs without what differs from run to run."""
    texts: list[Any] = []
    for output in outputs:
        data = output.get("data", {})
        if "image/svg+xml" in data:
            titles = re.findall(r"<title>(.*?)(?:, \d+ µs)?</title>", "".join(data["image/svg+xml"]))
            texts.append(sorted(titles))
        else:
            texts.append("".join(output.get("text") or data.get("text/plain", [])))
    return texts


def differences(path: Path, write: bool) -> list[str]:
    """Run a notebook; store its outputs, or tell where they are not those that it holds."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    found = []
    for number, (cell, outputs) in enumerate(
        zip(cells, run(["".join(cell["source"]) for cell in cells]), strict=True), start=1
    ):
        wanted, given = comparable(cell["outputs"]), comparable(outputs)
        if not write and wanted != given:
            found.append(f"{path}, cell {number}:\n{''.join(cell['source'])}\nshows {given}\nand not {wanted}")
        cell["outputs"], cell["execution_count"] = outputs, number
    if write:
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    return found


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
