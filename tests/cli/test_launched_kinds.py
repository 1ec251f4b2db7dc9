"""Programs of users' kinds, unchanged, as jobs on this machine: by a job's file, and with a worker that is killed."""

import json

import pytest

from tests.schedulers.kinds import EXAMPLES, KINDS
from tests.schedulers.launched import goes_on_after_a_kill, launching

pytestmark = [pytest.mark.slow, pytest.mark.timeout(330)]


@pytest.fixture
def launch():
    with launching() as start:
        yield start


@pytest.mark.parametrize("kind", [*KINDS, *EXAMPLES], ids=str)
def test_a_jobs_file_is_all_that_a_program_needs(launch, kind, tmp_path):
    lines = [
        f'program = "{kind.program}"',
        f"arguments = {json.dumps(kind.arguments_for(tmp_path / 'model'))}",
        f"flags = {str(kind.flags).lower()}",
    ]
    for role, count in kind.counts.items():
        lines += [f"[roles.{role}]", f"count = {count}"]
    (tmp_path / "job.toml").write_text("\n".join(lines))
    process = launch("--job", f"{tmp_path}/job.toml")
    output, notes = process.communicate(timeout=300)
    assert process.returncode == 0, notes + output
    kind.check(output, tmp_path / "model")


@pytest.mark.parametrize("kind", KINDS[:2], ids=str)
def test_a_worker_that_is_killed_in_the_midst_of_its_training_comes_back(launch, kind, tmp_path):
    goes_on_after_a_kill(launch, kind, tmp_path)


def test_a_program_that_fails_gives_its_traceback_and_its_code(launch, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("raise ValueError('no such thing')\n")
    process = launch(str(program))
    output, notes = process.communicate(timeout=300)
    assert process.returncode == 1
    assert "worker:0 | Traceback (most recent call last)" in output
    assert "worker:0 | ValueError: no such thing" in output
    assert "worker:0 failed with exit code 1" in notes
