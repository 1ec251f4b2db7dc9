"""Installs weft as a user does, from wheel and sdist, into clean environments, and runs a job there: `make installed`.

python tools/try_installation.py [--extras k8s,ray] PYTHON ...
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]

# What a user's first hour has: a graph, and a cluster of processes.
_PROGRAM: Final = """
import sys
import weft as tf
flags = dict(each[2:].split("=", 1) for each in sys.argv[1:])
cluster = {"ps": flags["ps_hosts"].split(","), "worker": flags["worker_hosts"].split(",")}
server = tf.train.Server(cluster, flags["job_name"], int(flags["task_index"]))
if flags["job_name"] == "ps":
    server.join()
with tf.device("/job:ps/task:0"):
    step = tf.train.get_or_create_global_step()
add = step.assign_add(1)
with tf.train.MonitoredTrainingSession(server.target, hooks=[tf.train.StopAtStepHook(3)]) as session:
    while not session.should_stop():
        done = session.run(add)
print("done", done)
"""
_AS_WEFT: Final = "import weft as tf; print(tf.Session().run(tf.constant([1, 2]) + 1))"


def build(folder: Path, *targets: str) -> list[Path]:
    """Build the wheel, the sdist or both into a folder; returns their files."""
    options = [word for target in targets for word in ("-t", target)]
    subprocess.run([sys.executable, "-m", "hatchling", "build", *options, "-d", str(folder)], cwd=ROOT, check=True)
    return sorted(folder.iterdir())


def try_one(python: str, file: Path, extras: str) -> None:
    """Install a file into a new environment of an interpreter, and run what a user runs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([python, "-m", "venv", str(folder / "env")], check=True)
        own = folder / "env" / "bin"
        wanted = f"{file}[{extras}]" if extras else str(file)
        subprocess.run([own / "python", "-m", "pip", "install", "--quiet", wanted], check=True, cwd=folder)
        subprocess.run([own / "python", "-m", "pip", "check"], check=True, cwd=folder)
        subprocess.run([own / "weft", "--version"], check=True, cwd=folder)
        shown = subprocess.run([own / "python", "-c", _AS_WEFT], check=True, cwd=folder, capture_output=True, text=True).stdout
        assert shown == "[2 3]\n", shown
        (folder / "program.py").write_text(_PROGRAM)
        command = [own / "weft", "launch", "--ps", "1", "--worker", "1", "program.py"]
        told = subprocess.run(command, check=True, cwd=folder, capture_output=True, text=True, timeout=300).stdout
        assert "worker:0 | done 3" in told, told
        assert (folder / "env/share/man/man1/weft.1").exists()


def main() -> int:
    """Try each interpreter that is there; the exit code is 1 when none is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extras", default="", help="extras to install, such as k8s,ray")
    parser.add_argument("pythons", nargs="+", metavar="PYTHON")
    arguments = parser.parse_args()
    found = [each for each in arguments.pythons if shutil.which(each)]
    for each in sorted({*arguments.pythons} - {*found}):
        print(f"{each} is not here: skipped")
    with tempfile.TemporaryDirectory() as folder:
        files = build(Path(folder), "wheel", "sdist")
        for python in found:
            for file in files:
                try_one(python, file, arguments.extras)
                print(f"{python}: {file.name} installs, and runs a job", flush=True)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
