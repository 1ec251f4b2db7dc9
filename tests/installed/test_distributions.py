"""What the wheel and the sdist have; `make installed` installs them into clean environments."""

import configparser
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import weft
from tools.try_installation import build

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VERSION = weft.WEFT_VERSION


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    [file] = build(tmp_path_factory.mktemp("wheel"), "wheel")
    with zipfile.ZipFile(file) as opened:
        yield opened


def package_files():
    """The files of the package that the repository has."""
    ran = subprocess.run(["git", "ls-files", "weft"], cwd=ROOT, capture_output=True, text=True)
    if ran.returncode:
        pytest.skip("not a checkout: git does not tell which files there are")
    return {name for name in ran.stdout.split("\n") if name and (ROOT / name).exists()}


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(wheel):
    names = {name for name in wheel.namelist() if not name.startswith(f"weft-{VERSION}.")}
    assert package_files() <= names
    assert {name for name in names if not name.startswith("weft/")} == set()
    # Files that git ignores have no place in it either.
    assert {name for name in names if "__pycache__" in name or name.endswith(".pyc")} == set()


def test_the_wheel_has_the_command_the_manual_page_the_licence_and_types(wheel):
    names = set(wheel.namelist())
    assert f"weft-{VERSION}.data/data/share/man/man1/weft.1" in names
    assert f"weft-{VERSION}.dist-info/licenses/LICENSE" in names
    assert "weft/py.typed" in names
    scripts = configparser.ConfigParser()
    scripts.read_string(wheel.read(f"weft-{VERSION}.dist-info/entry_points.txt").decode())
    assert dict(scripts["console_scripts"]) == {"weft": "weft.cli.command_line:main"}


def test_the_wheel_asks_for_what_the_project_does(wheel):
    told = wheel.read(f"weft-{VERSION}.dist-info/METADATA").decode().splitlines()
    extras = {line.removeprefix("Provides-Extra: ") for line in told if line.startswith("Provides-Extra: ")}
    assert extras == set(PROJECT["optional-dependencies"])
    assert f"Requires-Python: {PROJECT['requires-python']}" in told
    needed = [line for line in told if line.startswith("Requires-Dist: ") and "extra ==" not in line]
    assert len(needed) == len(PROJECT["dependencies"])


def test_the_sdist_has_what_builds_and_tests_it(tmp_path):
    [file] = build(tmp_path, "sdist")
    with tarfile.open(file) as opened:
        names = {name.removeprefix(f"weft-{VERSION}/") for name in opened.getnames()}
    assert package_files() <= names
    assert {"pyproject.toml", "README.md", "LICENSE", "Makefile", "tests/installed/test_distributions.py"} <= names
