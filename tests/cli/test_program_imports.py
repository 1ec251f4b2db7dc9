"""A program that says `import tensorflow` is run with weft in TensorFlow's place, whatever starts its tasks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from weft.cli.cluster_job import ClusterJob
from weft.cli.program_imports import imports_tensorflow, program_words

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path):
    def write(**texts):
        for name, text in texts.items():
            path = tmp_path.joinpath(*name.split("__")).with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return str(tmp_path / "main.py")

    return write


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("import tensorflow as tf", True),
        ("import tensorflow.compat.v1 as tf", True),
        ("from tensorflow.contrib import slim", True),
        ("def work():\n    import os, tensorflow", True),
        ("import weft as tf", False),
        ("try:\n    import weft as tf\nexcept ImportError:\n    import tensorflow as tf", False),
        ("import tensorflow_datasets\nimport tensorflowjs", False),
        ("from . import tensorflow_free", False),
        ("# import tensorflow\n'import tensorflow'", False),
        ("print 'Python 2'\nimport tensorflow", False),
    ],
)
def test_what_the_programs_file_says(folder, text, does):
    assert imports_tensorflow(folder(main=text)) is does


def test_modules_of_the_programs_folder_are_read_in_the_order_of_imports(folder):
    program = folder(
        main="import model", model="from layers.core import dense", layers__core="from .. import absent\nimport tensorflow"
    )
    assert imports_tensorflow(program)
    folder(model="import weft\nfrom layers.core import dense")
    assert not imports_tensorflow(program)


def test_relative_imports_and_packages_are_followed(folder):
    program = folder(main="from trainer import task", trainer__task="from . import model", trainer__model="import tensorflow")
    assert imports_tensorflow(program)
    folder(trainer__task="from .other.deep import x", trainer__other__deep="from ..model import y")
    assert imports_tensorflow(program)


def test_modules_that_import_each_other_and_programs_that_are_not_there_end_the_search(folder, tmp_path):
    assert not imports_tensorflow(folder(main="import a", a="import main, b", b="import a"))
    assert not imports_tensorflow(str(tmp_path / "none.py"))


def test_the_command_line_of_a_task_says_so(folder):
    job = ClusterJob.on_ports({"worker": 1}, [1], folder(main="import tensorflow"), ["a"], flags=False)
    assert job.command(job.tasks[0]) == [sys.executable, "-P", "-m", "weft.cli", "run", job.program, "a"]
    assert program_words(folder(main="import weft")) == [job.program]


_TASK = """
import json, os, sys
import tensorflow as tf
print(json.dumps([tf.contrib.__name__, os.environ["TF_CONFIG"] != "", sys.argv[0], sys.argv[-3:]]))
"""


@pytest.mark.parametrize("command", ["launch", "task"])
def test_its_tasks_find_weft_under_tensorflows_name(folder, tmp_path, command):
    program = folder(main=_TASK)
    # What lies in the folder where the command is given is no part of the program.
    there = tmp_path / "there"
    there.mkdir()
    (there / "argparse.py").write_text("raise SystemExit('not this one')")
    cluster = {"cluster": {"worker": ["localhost:1"]}, "task": {"type": "worker", "index": 0}}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CONFIG": json.dumps(cluster) if command == "task" else ""}
    words = [sys.executable, "-P", "-m", "weft.cli", command, program, "--x"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment, cwd=there, check=False)
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if "[" in line)
    flags = ["--job_name=worker", "--task_index=0", "--x"]
    assert json.loads(line[line.index("[") :]) == ["weft.api.contrib", True, program, flags]
