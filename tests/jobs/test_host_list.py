"""Host lists of Slurm's, with a stand-in for scontrol and without one; tests/schedulers/test_slurm.py has a real one."""

from pathlib import Path

import pytest

from weft.jobs.description import JobError
from weft.jobs.host_list import expand_hosts, expand_ranges


@pytest.fixture
def scontrol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    return tmp_path / "scontrol"


def test_a_list_without_brackets_needs_nothing() -> None:
    assert expand_hosts("a,b-1.example.com") == ["a", "b-1.example.com"]


def test_slurms_own_scontrol_expands_a_list(scontrol: Path) -> None:
    scontrol.write_text(
        '#!/bin/sh\n[ "$3" = "n[1-3]" ] && { echo x1; echo x2; exit; }\necho "Invalid hostlist" >&2; echo "end" >&2; exit 1\n'
    )
    scontrol.chmod(0o755)
    assert expand_hosts("n[1-3]") == ["x1", "x2"]
    with pytest.raises(JobError, match=r"^scontrol does not expand the host list 'n\[1-': Invalid hostlist; end$"):
        expand_hosts("n[1-")


def test_ranges_are_expanded_where_there_is_no_scontrol_or_it_has_no_configuration(scontrol: Path) -> None:
    assert expand_hosts("n[1-2],m") == ["n1", "n2", "m"]
    scontrol.write_text('#!/bin/sh\necho "scontrol: error: fetch_config: DNS SRV lookup failed" >&2; exit 1\n')
    scontrol.chmod(0o755)
    assert expand_hosts("n[1-2],m") == ["n1", "n2", "m"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("n[08-11]", ["n08", "n09", "n10", "n11"]),
        ("n[1,5-6],m", ["n1", "n5", "n6", "m"]),
        ("n[001-3]", ["n001", "n002", "n003"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
        ("n[98-101]", ["n98", "n99", "n100", "n101"]),
    ],
)
def test_ranges_are_what_scontrol_makes_of_them(text: str, names: list[str]) -> None:
    assert expand_ranges(text) == names


@pytest.mark.parametrize("text", ["n[1-", "n[]", "n[1-2],", "n[2-1]", "n[a-b]", "n[1-2]]", "a b[1]", "n[1-999999999]"])
def test_what_is_no_list_is_told(text: str) -> None:
    with pytest.raises(JobError, match="host list"):
        expand_ranges(text)
