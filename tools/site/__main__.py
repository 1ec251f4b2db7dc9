"""Builds the site: `python -m tools.site [--stored-outputs] [FOLDER]`. Warnings are errors."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tools.site import reference

ROOT: Final = Path(__file__).parents[2]
_PAGES: Final = ("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "docs", "examples")


def gather(folder: Path) -> None:
    """Copy the pages to an empty folder as the repository has them, so that their links hold, and write the reference."""
    for name in _PAGES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    pages = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/contents.md")]
    (folder / "index.md").write_text("\n".join(pages), encoding="utf-8")
    names = (ROOT / "tests" / "public_api.txt").read_text(encoding="utf-8").split()
    reference.write(folder / "reference", names)


def main() -> int:
    """Build the site; return Sphinx's exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.site", description="Build the site.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "site", help="where to (build/site)")
    parser.add_argument("--stored-outputs", action="store_true", help="show what the notebooks hold, and do not run them")
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    source = folder.with_name(f"{folder.name}-source")
    for old in (source, folder):
        shutil.rmtree(old, ignore_errors=True)
    source.mkdir(parents=True)
    gather(source)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    if arguments.stored_outputs:
        environment["SITE_STORED_OUTPUTS"] = "1"
    command = ["sphinx", "-W", "--keep-going", "-q", "-E", "-j", "auto", "-b", "html", "-c", str(Path(__file__).parent)]
    doctrees = folder.with_name(f"{folder.name}-doctrees")
    return subprocess.run(
        [sys.executable, "-m", *command, "-d", str(doctrees), str(source), str(folder)], env=environment, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
