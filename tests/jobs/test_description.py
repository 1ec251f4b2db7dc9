import pytest

from weft.jobs.description import JobDescription, JobError, Restart, Role, memory_bytes


def test_a_job_counts_its_tasks_in_the_order_of_roles_and_leaves_empty_ones_out():
    job = JobDescription("p.py", (Role("worker", 2), Role("ps", 1), Role("chief", 0)))
    assert list(job.counts.items()) == [("ps", 1), ("worker", 2)]
    assert job.task_count == 3
    assert job.role("evaluator").count == 0


def test_a_roles_variables_win_over_the_jobs():
    job = JobDescription("p.py", (Role("ps", environment={"A": "ps"}), Role("worker")), environment={"A": "all", "B": "b"})
    assert job.environment_of("ps") == {"A": "ps", "B": "b"}
    assert job.environment_of("worker") == {"A": "all", "B": "b"}


@pytest.mark.parametrize(
    ("text", "size"), [("1", 1), ("2k", 2000), ("500M", 500 * 10**6), ("8Gi", 8 * 2**30), ("1.5Ki", 1536), ("1Ti", 2**40)]
)
def test_memory_is_a_number_with_a_unit(text, size):
    assert memory_bytes(text) == size


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Role("workers"), "there is no role 'workers', only ps, chief, worker, evaluator. Did you mean 'worker'?"),
        (lambda: Role("ps", -1), "ps: expected a number of tasks, 0 or more, got -1"),
        (lambda: Role("chief", 2), "chief: a cluster has at most one, got 2"),
        (lambda: Role("ps", cpus=0.0), "ps: cpus: expected a number of cores above 0, got 0.0"),
        (lambda: Role("ps", memory="8 GB"), "ps: memory: expected bytes above 0, such as 500M or 8Gi, got '8 GB'"),
        (lambda: Role("ps", memory="0"), "ps: memory: expected bytes above 0, such as 500M or 8Gi, got '0'"),
        (lambda: Role("ps", gpus=-1), "ps: gpus: expected a number, 0 or more, got -1"),
        (lambda: Role("ps", environment={"A B": ""}), "ps: 'A B' cannot be the name of an environment variable: expected"
         " letters, digits and underscores, no digit first, as in NAME=VALUE"),
        (lambda: Restart("onfailure"), "restart: there is no policy 'onfailure', only never, on-failure."
         " Did you mean 'on-failure'?"),
        (lambda: Restart("never", -1), "restart: limit: expected a number of restarts, 0 or more, got -1"),
        (lambda: JobDescription("p.py", (Role("ps"), Role("ps"))), "the role 'ps' is there 2 times"),
        (lambda: JobDescription("p.py", (Role("worker", 0),)), "there is no task to start: --worker is 0"),
        (lambda: JobDescription("p.py", (Role("ps"),), environment={"A": "\0"}), "environment: the value of A has a zero byte"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_in_one_line(make, message):
    with pytest.raises(JobError) as caught:
        make()
    assert str(caught.value) == message
