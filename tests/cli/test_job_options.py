"""Options and a file describe a job, and options win."""

import pytest

from weft.cli.job_options import add_job_options, job_from
from weft.cli.parser import OneLineParser
from weft.jobs.description import Restart


@pytest.fixture
def described(tmp_path):
    (tmp_path / "p.py").touch()
    (tmp_path / "job.toml").write_text(
        'program = "p.py"\narguments = ["told"]\n[roles]\nps = { count = 2, memory = "1Gi" }\nworker = { count = 3 }\n'
        '[environment]\nA = "told"\n[restart]\nlimit = 7\n'
    )

    def describe(*words):
        parser = OneLineParser("weft test")
        add_job_options(parser)
        words = [str(tmp_path / word) if word in ("p.py", "job.toml") else word for word in words]
        return job_from(parser.parse_args(words), parser)

    return describe


def test_one_worker_is_the_default(described):
    assert described("p.py").counts == {"worker": 1}
    assert described("--ps", "2", "p.py", "--ps", "x").counts == {"ps": 2, "worker": 1}


def test_what_a_file_says_holds_where_no_option_says_otherwise(described):
    job = described("--job", "job.toml", "--worker", "1", "--env", "B=b")
    assert job.counts == {"ps": 2, "worker": 1}
    assert job.role("ps").memory == "1Gi"
    assert job.arguments == ("told",)
    assert job.environment == {"A": "told", "B": "b"}
    assert job.restart == Restart("on-failure", 7)
    assert described("--job", "job.toml", "p.py", "own").arguments == ("own",)


def test_resources_and_variables_are_of_all_tasks_or_of_a_roles(described):
    job = described("--ps=1", "--cpus=2", "--cpus=ps=0.5", "--memory=worker=8Gi", "--gpus=worker=1", "--env=ps:A=x=y", "p.py")
    ps, worker = job.role("ps"), job.role("worker")
    assert (ps.cpus, ps.memory, ps.gpus, ps.environment) == (0.5, None, 0, {"A": "x=y"})
    assert (worker.cpus, worker.memory, worker.gpus, worker.environment) == (2.0, "8Gi", 1, {})


def test_workers_may_begin_with_fewer_than_there_may_be(described):
    job = described("--ps=1", "--worker=4", "--start=2", "p.py")
    assert (job.counts, job.started) == ({"ps": 1, "worker": 4}, {"ps": 1, "worker": 2})
    assert described("--ps=2", "--start=ps=1", "p.py").started == {"ps": 1, "worker": 1}


def test_who_says_how_often_wants_restarts(described):
    assert described("--max-restarts=2", "p.py").restart.times == 2
    assert described("--restart=on-failure", "p.py").restart.times == 3
    assert described("--restart=never", "--job", "job.toml").restart.times == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--cpus=many", "p.py"], "--cpus: expected a number, or ROLE=number, got 'many'"),
        (["--gpus=workers=1", "p.py"], "--gpus: there is no role 'workers', only ps, chief, worker, evaluator."
         " Did you mean 'worker'?"),
        (["--env=A", "p.py"], "--env: expected NAME=VALUE, got 'A'"),
        (["--env=A B=1", "p.py"], "--env: 'A B' cannot be the name of an environment variable"),
        (["--memory=lots", "p.py"], "--memory: expected bytes above 0, such as 500M or 8Gi, got 'lots'"),
        (["--max-restarts=-1", "p.py"], "--max-restarts: expected a number of restarts, 0 or more, got '-1'"),
        (["--start=3", "--worker=2", "p.py"], "worker: start: expected a number from 0 to 2, which there may be, got 3"),
        (["--start=0", "p.py"], "start: there is no task to start with"),
        (["--job=none.toml"], "the job's file 'none.toml' cannot be read: No such file or directory"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_one_line(described, capsys, words, message):
    with pytest.raises(SystemExit):
        described(*words)
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
