"""`weft credentials` makes files that tasks can use, for their owner only, and never overwrites any."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from weft.cli.command_line import main
from weft.credentials.credentials import CLIENT, Credentials, task_identity


def test_a_token_is_written_for_its_owner_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "token"
    assert main(["credentials", "token", "-o", str(path)]) == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    said = capsys.readouterr().out
    assert "WEFT_CLUSTER_TOKEN_FILE" in said
    assert path.read_text().strip() not in said


def test_an_authority_signs_what_tasks_and_clients_use(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    assert main(["credentials", "authority", str(folder)]) == 0
    assert main(["credentials", "issue", str(folder), "worker:0", "ps:1", "client", "--host", "10.0.0.1"]) == 0
    for identity in (task_identity("worker", 0), task_identity("ps", 1), CLIENT):
        Credentials.of_folder(folder, identity).context(is_server=True)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["issue", "{folder}", "worker"], "'worker' is neither a task, such as worker:0, nor 'client'"),
        (["issue", "{folder}", "worker:0"], "authority.key"),
        (["token", "-o", "{folder}/missing/token"], "No such file or directory"),
    ],
)
def test_what_cannot_be_made_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["credentials", *(each.format(folder=tmp_path) for each in arguments)])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert expected in said
    assert said.count("\n") == 1


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "token"
    assert main(["credentials", "token", "-o", str(path)]) == 0
    before = path.read_bytes()
    with pytest.raises(SystemExit):
        main(["credentials", "token", "-o", str(path)])
    assert path.read_bytes() == before
    assert "exists and may be in use" in capsys.readouterr().err


def test_a_place_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["credentials", "token", "-o", str(tmp_path / "none" / "token")])
    assert f"{tmp_path}/none/token cannot be written: No such file or directory" in capsys.readouterr().err


def test_a_reader_of_pages_gets_less_than_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("WEFT_CLUSTER_TOKEN", raising=False)
    monkeypatch.delenv("WEFT_CLUSTER_TOKEN_FILE", raising=False)
    with pytest.raises(SystemExit):
        main(["credentials", "pages", "-o", str(tmp_path / "scrape")])
    assert "no cluster token" in capsys.readouterr().err
    token = tmp_path / "token"
    main(["credentials", "token", "-o", str(token)])
    monkeypatch.setenv("WEFT_CLUSTER_TOKEN_FILE", str(token))
    assert main(["credentials", "pages", "-o", str(tmp_path / "scrape")]) == 0
    bearer = (tmp_path / "scrape" / "bearer").read_text()
    assert len(bearer) == 64
    assert bearer not in token.read_text()
    assert "CERTIFICATE" in (tmp_path / "scrape" / "authority.pem").read_text()
