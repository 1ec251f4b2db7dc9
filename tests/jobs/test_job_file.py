import pytest

from weft.jobs.description import JobError, Restart, Role
from weft.jobs.job_file import read_job

WHOLE = """
program = "train.py"
arguments = ["--steps=3", "x"]
flags = false

[roles.ps]
count = 2
memory = "8Gi"

[roles.worker]
count = 4
cpus = 2
gpus = 1
environment = { A = "worker" }

[environment]
A = "all"

[restart]
policy = "on-failure"
limit = 5
"""


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "job.toml"
        path.write_text(text)
        return read_job(str(path))

    return read


def test_a_file_says_all_of_a_job(read, tmp_path):
    job = read(WHOLE)
    assert job.program == str(tmp_path / "train.py")
    assert job.arguments == ("--steps=3", "x")
    assert not job.flags
    assert job.roles == (Role("ps", 2, memory="8Gi"), Role("worker", 4, cpus=2.0, gpus=1, environment={"A": "worker"}))
    assert job.environment == {"A": "all"}
    assert job.restart == Restart("on-failure", 5)


def test_a_role_may_begin_with_fewer_tasks_than_it_may_have(read):
    job = read('program = "p.py"\n[roles.worker]\ncount = 4\nstart = 2')
    assert (job.counts, job.started) == ({"worker": 4}, {"worker": 2})


def test_a_program_alone_is_a_job_of_one_worker(read):
    job = read('program = "p.py"')
    assert job.counts == {"worker": 1}
    assert job.flags
    assert job.restart.times == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("program = ", "this is no TOML: Invalid value (at end of document). A job's file has lines such as"
         ' program = "train.py", [roles.worker] and count = 2'),
        ("arguments = []", "'program' is missing: the Python file that each task runs"),
        ('programm = "p.py"', "there is no key 'programm', only program, arguments, roles, environment, restart, flags."
         " Did you mean 'program'?"),
        ('program = "p.py"\narguments = [1]', "arguments: expected a list of texts, got 1 in it"),
        ('program = 3', "program: expected text, got 3"),
        ('program = "p.py"\n[roles]\nworkers = { count = 1 }', "there is no role 'workers', only ps, chief, worker, evaluator."
         " Did you mean 'worker'?"),
        ('program = "p.py"\n[roles]\nworker = 2', "roles.worker: expected a table, got 2; as in [roles.worker] with"
         " count = 2"),
        ('program = "p.py"\n[roles.worker]\ncounts = 2', "there is no key 'roles.worker.counts', only count, cpus, memory,"
         " gpus, environment, start. Did you mean 'count'?"),
        ('program = "p.py"\n[roles.worker]\ncount = true', "roles.worker.count: expected a whole number, got true; as in"
         " count = 2"),
        ('program = "p.py"\n[environment]\nA = 1', "environment.A: expected text, got 1; put it in quotes"),
        ('program = "p.py"\n[restart]\nlimits = 1', "there is no key 'restart.limits', only policy, limit."
         " Did you mean 'limit'?"),
        ('program = "p.py"\narguments = ["a\\u0000b"]', "arguments: 'a\\x00b' has a zero byte, which no command line can have"),
        ('program = "p.py"\n[roles.worker]\ncount = 1000000', "worker: expected at most 100,000 tasks, got 1,000,000"),
        (f'program = "p.py"\nx = {"[" * 5000}', "this is no TOML that can be read: its brackets are nested too deep"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_one_line_with_file_and_key(read, tmp_path, text, message):
    with pytest.raises(JobError) as caught:
        read(text)
    assert str(caught.value) == f"{tmp_path / 'job.toml'}: {message}"


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(JobError, match=r"^the job's file 'none.toml' cannot be read: No such file or directory$"):
        read_job("none.toml")
