"""A cluster's token comes from a variable or from a file that nobody else can read."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from weft.credentials.cluster_token import FILE_VARIABLE, VARIABLE, find_token, new_token, write_token
from weft.errors import InvalidArgumentError, NotFoundError, PermissionDeniedError


def test_without_variables_there_is_none() -> None:
    assert find_token({}) is None


def test_a_written_token_is_found_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "token"
    write_token(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert find_token({FILE_VARIABLE: str(path)}) == path.read_bytes().strip()


def test_tokens_differ() -> None:
    assert new_token() != new_token()


def test_an_existing_token_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "token"
    write_token(path)
    with pytest.raises(FileExistsError):
        write_token(path)


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "token"
    write_token(path)
    path.chmod(0o640)
    with pytest.raises(PermissionDeniedError, match=r"can be read by others \(mode 640\): chmod 600"):
        find_token({FILE_VARIABLE: str(path)})


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no such file"):
        find_token({FILE_VARIABLE: str(tmp_path / "token")})


def test_a_short_token_is_refused_without_being_shown() -> None:
    with pytest.raises(InvalidArgumentError, match="9 characters; at least 32") as caught:
        find_token({VARIABLE: "guessable"})
    assert "guessable" not in str(caught.value)


@pytest.mark.parametrize("content", [bytes(range(128, 192)), b"\xff" * 64, b"a" * 32 + b"\0" + b"b" * 32])
def test_random_bytes_are_no_token_since_different_ones_would_become_the_same(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(InvalidArgumentError, match=r"no printable ASCII characters.*weft credentials token -o FILE"):
        find_token({FILE_VARIABLE: str(path)})
