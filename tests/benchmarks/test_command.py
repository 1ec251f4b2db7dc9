"""The command line: what it lists, what it refuses, and what it writes of figures that were measured before."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import growth, report
from benchmarks.catalogue import MEASURES
from benchmarks.contender import Answer, Contender, Outcome
from benchmarks.curves import CURVES
from benchmarks.document import place
from benchmarks.framework import TENSORFLOW, WEFT
from benchmarks.growth import Grown, Growth
from benchmarks.machine import Limits
from benchmarks.sitting import Row, Sitting
from benchmarks.timing import Point, once

PLACE = "\n".join(place("benchmarks"))


@pytest.fixture(autouse=True)
def _own_signals() -> Iterator[None]:
    """The command takes SIGTERM for itself; give it back."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """A file with the figures of a sitting that was held before."""
    outcomes = {WEFT: [Outcome(once(1.0))], TENSORFLOW: [Outcome(once(4.0))]}
    contenders = [Contender(WEFT, ""), Contender(TENSORFLOW, "")]
    limits = [Limits(1e-5, 1e-5, 1e9, 1e9, 1e9, 1e9)]
    held = Sitting(contenders, {WEFT: "1.0", TENSORFLOW: "2.0"}, [Row(MEASURES[0], outcomes)], limits)
    path = tmp_path / "measured.json"
    path.write_text(json.dumps(report.as_json(held)))
    return path


def test_everything_that_can_be_chosen_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--list"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == [each.name for each in (*MEASURES, *CURVES)]


def test_a_name_that_nothing_has_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        command.main(["--only", "nonsense", "--framework", "weft"])
    assert "no measure is called nonsense" in capsys.readouterr().err


def test_several_names_are_separated_by_commas_or_given_one_by_one() -> None:
    chosen = command.parser().parse_args(["--only", "null_steps_8, growth", "--only", "import"]).only
    assert chosen == ["null_steps_8", "growth", "import"]
    assert command.parser().parse_args([]).only == []


def test_a_sitting_is_drawn_and_told_again(measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(PLACE)
    (tmp_path / "docs").mkdir()
    picture = tmp_path / "docs" / "picture.svg"
    assert command.main(["--redraw", str(measured), "--picture", str(picture), "--into", str(readme)]) == 0
    assert "Import" in capsys.readouterr().out
    assert picture.read_text().startswith("<svg")
    assert "](docs/picture.svg)" in readme.read_text()
    assert "| Import | 1.00 s | 4.00 s | 0.25 |" in readme.read_text()


def test_publishing_writes_to_where_the_documents_show_it(
    measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(PLACE)
    assert command.main(["--publish", "--redraw", str(measured)]) == 0
    assert json.loads((tmp_path / "docs" / "benchmarks.json").read_text()) == json.loads(measured.read_text())
    assert (tmp_path / "docs" / "benchmarks.svg").exists()
    assert "docs/benchmarks.svg" in (tmp_path / "README.md").read_text()


def test_growth_is_drawn_again_from_its_own_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = next(each for each in CURVES if each.name == "nodes")
    held = Growth({WEFT: "1.0"}, 1, [Grown(nodes, {WEFT: [Point(size, {"median": 1e-5}) for size in nodes.sizes]})])
    path, picture = tmp_path / "growth.json", tmp_path / "growth.svg"
    path.write_text(json.dumps(growth.as_json(held)))
    assert command.main(["--growth", "--redraw", str(path), "--picture", str(picture)]) == 0
    assert "flat: the highest at most 1.5 times the lowest: holds" in capsys.readouterr().out
    assert "Step of three nodes" in picture.read_text()


def test_overlapping_is_drawn_again_from_the_published_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> Answer:
        raise AssertionError("nothing is measured")

    monkeypatch.setattr(Contender, "ask", refuse)
    published, picture = command.ROOT / "docs" / "overlap.json", tmp_path / "overlap.svg"
    again = tmp_path / "overlap.json"
    told = ["--overlap", "--redraw", str(published), "--picture", str(picture), "--json", str(again)]
    assert command.main(told) == 0
    assert "of the first gradient's way lies behind computing the next" in capsys.readouterr().out
    assert "A traced step of two layers" in picture.read_text()
    assert json.loads(again.read_text()) == json.loads(published.read_text())


def test_a_machine_without_a_gpu_is_told_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    answer = Answer({"platform": "cpu", "devices": ["cpu:0"]})
    monkeypatch.setattr(Contender, "ask", lambda *_, **__: answer)
    assert command.main(["--gpu"]) == 1
    assert "There is no GPU here: jax.devices() gives cpu:0" in capsys.readouterr().err
