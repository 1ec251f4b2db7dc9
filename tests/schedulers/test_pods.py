"""The life of a manifest's pods: names that come late, addresses that change, SIGTERM, and Jobs that complete: `make pods`."""

import signal
from pathlib import Path

import pytest

from tests.schedulers.kinds import EXAMPLES, KINDS
from tests.schedulers.pods import Pods, what_is_missing
from weft.cli.command_line import main
from weft.credentials.cluster_token import new_token
from weft.jobs.description import JobDescription, Role
from weft.jobs.kubernetes.manifest import manifest
from weft.jobs.kubernetes.pods import Placement

pytestmark = [pytest.mark.scheduler, pytest.mark.timeout(500)]

PROGRAM = str(Path(__file__).with_name("train.py"))
ROOT = str(Path(__file__).parents[2])
PS, CHIEF, WORKER = "train-ps-0", "train-worker-0", "train-worker-1"


ENVIRONMENT = {"PYTHONPATH": ROOT, "JAX_PLATFORMS": "cpu", "PYTHONFAULTHANDLER": "1"}


@pytest.fixture
def pods_of(tmp_path):
    """Make the pods of a job; none runs yet."""
    made = []

    def make(job, certificates=None, wait_s=1800):
        if reason := what_is_missing():
            pytest.skip(reason)
        placement = Placement("train", "image", new_token(), grace_s=30, wait_s=wait_s, certificates=certificates)
        made.append(Pods(tmp_path, manifest(job, placement)))
        return made[-1]

    yield make
    for each in made:
        each.stop()


@pytest.fixture
def pods(pods_of, tmp_path):
    """Make the pods of a job that trains so many steps; none runs yet."""

    def make(steps, task_s=0.0, certificates=None):
        arguments = (f"--steps={steps}", f"--model={tmp_path}/model", f"--task_s={task_s}")
        job = JobDescription(PROGRAM, (Role("ps", 1), Role("worker", 2)), arguments, ENVIRONMENT)
        return pods_of(job, certificates)

    return make


@pytest.mark.parametrize("kind", [*KINDS, *EXAMPLES], ids=str)
def test_programs_of_all_kinds_train_and_every_job_completes(pods_of, kind, tmp_path):
    # The files of examples lie beside the program's folder, where a pod's server reads when it is told so.
    environment = {**ENVIRONMENT, "WEFT_FILE_ROOTS": str(tmp_path)}
    job = pods_of(kind.description(kind.arguments_for(tmp_path / "model"), environment))
    names = [f"train-{role}-{index}" for role, count in kind.counts.items() for index in range(count)]
    for pod in names:
        job.start(pod)
    assert {pod: job.wait_for_end(pod) for pod in names} == dict.fromkeys(names, 0)
    kind.check("".join(map(job.log, names)), tmp_path / "model")


def test_names_that_come_late_are_waited_for_and_every_job_completes(pods):
    job = pods(20)
    late = {pod: job.start(pod, publish=False) for pod in (PS, CHIEF)}
    job.start(WORKER)
    job.wait_for(WORKER, "waiting for response from")
    for pod, address in late.items():
        job.publish(pod, address)
    # Parameter servers end by themselves, so that their Job completes, too.
    assert [job.wait_for_end(pod) for pod in (CHIEF, WORKER, PS)] == [0, 0, 0]


def test_a_worker_that_is_rescheduled_joins_again_under_its_new_address(pods):
    job = pods(150, task_s=0.1)
    for pod in (PS, CHIEF, WORKER):
        job.start(pod)
    job.wait_for(WORKER, "begins at step")
    job.processes[WORKER].send_signal(signal.SIGTERM)
    assert job.wait_for_end(WORKER) == 143
    job.start(WORKER)
    assert [job.wait_for_end(pod) for pod in (CHIEF, WORKER, PS)] == [0, 0, 0]
    assert job.log(WORKER).count("begins at step") == 2


def test_a_worker_that_comes_when_the_job_is_over_is_told_so(pods_of, tmp_path):
    arguments = ("--steps=20", f"--model={tmp_path}/model")
    environment = {**ENVIRONMENT, "WEFT_LIMITS": "lost_job_s=6"}
    job = pods_of(JobDescription(PROGRAM, (Role("ps", 1), Role("worker", 2)), arguments, environment), wait_s=30)
    for pod in (PS, CHIEF):
        job.start(pod)
    assert [job.wait_for_end(pod) for pod in (CHIEF, PS)] == [0, 0]
    job.start(WORKER)
    assert job.wait_for_end(WORKER) == 1
    assert "this task has come too late, or come back for nothing" in job.log(WORKER)


def test_a_parameter_server_that_is_rescheduled_is_found_under_its_new_address(pods):
    job = pods(150, task_s=0.1)
    for pod in (PS, CHIEF, WORKER):
        job.start(pod)
    job.wait_for(WORKER, "begins at step")
    job.processes[PS].send_signal(signal.SIGKILL)
    job.wait_for_end(PS)
    job.start(PS)
    assert [job.wait_for_end(pod) for pod in (CHIEF, WORKER, PS)] == [0, 0, 0]


def test_a_worker_joins_from_another_host_and_again_from_a_third_one_in_the_midst_of_the_training(pods_of, tmp_path):
    kind = KINDS[0]
    arguments = (f"--model={tmp_path}/model", "--steps=200", "--task_s=0.1")
    job = pods_of(kind.description(arguments, ENVIRONMENT))
    for pod in (PS, CHIEF):
        job.start(pod)
    target = "grpc://train-ps-0.train:2222"
    job.wait_for(CHIEF, "worker 0 trains")
    first = job.join("worker:1", target, (kind.program, *arguments), CHIEF)
    job.wait_for("worker:1", "worker 1 trains")
    job.processes["worker:1"].send_signal(signal.SIGKILL)
    job.wait_for_end("worker:1")
    second = job.join("worker:1", target, (kind.program, *arguments), CHIEF)
    assert first != second
    tasks = (CHIEF, "worker:1", PS)
    assert [job.wait_for_end(task) for task in tasks] == [0, 0, 0]
    assert job.log("worker:1").count("worker 1 trains") == 2
    kind.check("".join(map(job.log, tasks)), tmp_path / "model")


def test_a_job_whose_pods_are_all_told_to_end_saves_first(pods, tmp_path):
    job = pods(100_000, task_s=0.02)
    for pod in (PS, CHIEF, WORKER):
        job.start(pod)
    job.wait_for(WORKER, "begins at step")
    for process in job.processes.values():
        process.send_signal(signal.SIGTERM)
    assert [job.wait_for_end(pod) for pod in (CHIEF, WORKER, PS)] == [143, 143, 143], job.logs()
    assert "model.ckpt-" in (tmp_path / "model" / "checkpoint").read_text()


def test_pods_know_each_other_by_certificates(pods, tmp_path):
    folder = tmp_path / "keys"
    main(["credentials", "authority", str(folder)])
    main(["credentials", "issue", str(folder), "ps:0", "worker:0", "worker:1"])
    job = pods(20, certificates={each.name: each.read_text() for each in folder.glob("*.pem")})
    for pod in (PS, CHIEF, WORKER):
        job.start(pod)
    assert [job.wait_for_end(pod) for pod in (CHIEF, WORKER, PS)] == [0, 0, 0]
    assert not (tmp_path / "train-worker" / "authority.key").exists()
