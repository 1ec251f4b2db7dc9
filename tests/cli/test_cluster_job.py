import json
import sys

from weft.cli.cluster_job import ClusterJob
from weft.jobs.description import JobDescription, Role

COUNTS = {"ps": 1, "chief": 1, "worker": 2, "evaluator": 1}


def test_every_task_but_the_evaluator_has_an_address():
    job = ClusterJob.on_ports(COUNTS, [1, 2, 3, 4], "p.py")
    assert [(task.name, task.address) for task in job.tasks] == [
        ("ps:0", "127.0.0.1:1"),
        ("chief:0", "127.0.0.1:2"),
        ("worker:0", "127.0.0.1:3"),
        ("worker:1", "127.0.0.1:4"),
        ("evaluator:0", None),
    ]


def test_flags_tell_the_cluster_and_come_before_the_programs_arguments():
    job = ClusterJob.on_ports({"ps": 1, "worker": 2}, [1, 2, 3], "p.py", ["a", "--job_name=x"])
    assert job.command(job.tasks[2]) == [
        sys.executable,
        "p.py",
        "--ps_hosts=127.0.0.1:1",
        "--worker_hosts=127.0.0.1:2,127.0.0.1:3",
        "--job_name=worker",
        "--task_index=1",
        "a",
        "--job_name=x",
    ]


def test_only_a_job_with_a_chief_passes_its_address():
    job = ClusterJob.on_ports({"chief": 1}, [1], "p.py")
    assert job.command(job.tasks[0])[2:5] == ["--ps_hosts=", "--chief_hosts=127.0.0.1:1", "--worker_hosts="]


def test_flags_can_be_left_out():
    job = ClusterJob.on_ports({"worker": 1}, [1], "p.py", ["a"], flags=False)
    assert job.command(job.tasks[0]) == [sys.executable, "p.py", "a"]


def test_tf_config_tells_the_cluster_and_the_task():
    job = ClusterJob.on_ports(COUNTS, [1, 2, 3, 4], "p.py")
    environment = job.environment(job.tasks[-1], {"HOME": "/h"})
    assert environment["HOME"] == "/h"
    assert json.loads(environment["TF_CONFIG"]) == {
        "cluster": {"chief": ["127.0.0.1:2"], "ps": ["127.0.0.1:1"], "worker": ["127.0.0.1:3", "127.0.0.1:4"]},
        "task": {"type": "evaluator", "index": 0},
    }


def test_tasks_have_their_roles_variables_and_gpus_of_their_own():
    described = JobDescription(
        "p.py", (Role("ps", environment={"A": "ps"}), Role("worker", 2, gpus=2)), environment={"A": "all"}
    )
    job = ClusterJob.of(described, ["h:1", "h:2", "h:3"], ["0", "1", "2", "3"])
    environments = [job.environment(task, {"A": "inherited"}) for task in job.tasks]
    assert [each["A"] for each in environments] == ["ps", "all", "all"]
    assert [each.get("CUDA_VISIBLE_DEVICES") for each in environments] == [None, "0,1", "2,3"]
