from pathlib import Path

import pytest


@pytest.fixture
def program(tmp_path):
    """Write a program for tasks to run; `ps`, `worker` etc. are its parts by job, with `index` and `args` defined."""

    def write(**parts):
        lines = ["import os, signal, subprocess, sys, time", "flags = dict(a[2:].split('=', 1) for a in sys.argv[1:5])"]
        lines += ["job, index, args = flags['job_name'], int(flags['task_index']), sys.argv[5:]"]
        for job, text in parts.items():
            lines += [f"if job == {job!r}:", *(f"    {line}" for line in text.strip().splitlines())]
        path: Path = tmp_path / "program.py"
        path.write_text("\n".join(lines) + "\n")
        return str(path)

    return write
