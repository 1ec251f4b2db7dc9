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

_JOB: Final = Path(__file__).with_name("first_job.py")
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
        shutil.copy(_JOB, folder)
        command = [own / "weft", "launch", "--ps", "1", "--worker", "1", _JOB.name]
        told = subprocess.run(command, check=True, cwd=folder, capture_output=True, text=True, timeout=300).stdout
        assert "worker:0 | done 3" in told, told
        assert (folder / "env/share/man/man1/weft.1").exists()


def interpreter(name: str) -> str | None:
    """The interpreter that a name such as `python3.12` stands for: a command, or a version that pyenv has; None for neither.

    pyenv's own command of that name fails where the version is installed and not chosen.
    """
    if shutil.which(name) is not None and _told(name, "--version"):
        return name
    if shutil.which("pyenv") is None:
        return None
    prefix = _told("pyenv", "prefix", name.removeprefix("python"))
    python = Path(prefix) / "bin" / "python"
    return str(python) if prefix and python.exists() else None


def _told(*command: str) -> str:
    """What a command prints; nothing where it fails."""
    ran = subprocess.run(command, capture_output=True, text=True)
    return ran.stdout.strip() if ran.returncode == 0 else ""


def main() -> int:
    """Try each interpreter that is there; the exit code is 1 when none is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extras", default="", help="extras to install, such as k8s,ray")
    parser.add_argument("pythons", nargs="+", metavar="PYTHON")
    arguments = parser.parse_args()
    found = {name: python for name in arguments.pythons if (python := interpreter(name)) is not None}
    for each in sorted({*arguments.pythons} - {*found}):
        print(f"{each} is not here: skipped")
    with tempfile.TemporaryDirectory() as folder:
        files = build(Path(folder), "wheel", "sdist")
        for name, python in found.items():
            for file in files:
                try_one(python, file, arguments.extras)
                print(f"{name}: {file.name} installs, and runs a job", flush=True)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
