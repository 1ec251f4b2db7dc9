"""Jobs in a real Slurm with two nodes on this machine: `make slurm`."""

import os
import sys
from pathlib import Path

import pytest

from tests.schedulers.kinds import EXAMPLES, KINDS
from tests.schedulers.slurm_cluster import NODES, SlurmCluster, what_is_missing
from weft.credentials.cluster_token import new_token
from weft.platform.hosts.free_ports import free_ports

pytestmark = [pytest.mark.scheduler, pytest.mark.timeout(400)]

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("train.py")
TASK = f"{sys.executable} -m weft task"


@pytest.fixture
def slurm(tmp_path):
    if reason := what_is_missing():
        pytest.skip(reason)
    cluster = SlurmCluster(tmp_path, free_ports(3))
    cluster.environment.update({"PYTHONPATH": str(ROOT), "WEFT_CLUSTER_TOKEN": new_token(), "JAX_PLATFORMS": "cpu"})
    yield cluster
    cluster.stop()


def test_a_step_of_srun_trains_on_two_nodes_and_ends_by_itself(slurm, tmp_path):
    ran = slurm.run(
        *f"srun -N 2 -n 4 --ntasks-per-node=2 --overcommit {TASK} --ps 1 {PROGRAM} --steps=20 --model={tmp_path}/model".split(),
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    places = sorted(line.split() for line in ran.stdout.splitlines() if "serves at" in line)
    hosts = {words[0]: words[-1].removeprefix("grpc://").partition(":")[0] for words in places}
    assert hosts == {"ps:0": NODES[0], "worker:0": NODES[0], "worker:1": NODES[1], "worker:2": NODES[1]}
    assert ran.stdout.count("is done after step") == 3
    assert (tmp_path / "model" / "checkpoint").exists()


@pytest.mark.parametrize("kind", [*KINDS, *EXAMPLES], ids=str)
def test_programs_of_all_kinds_train_and_end(slurm, kind, tmp_path):
    count = sum(kind.counts.values())
    where = f"srun -N 2 -n {count} --overcommit {TASK}".split()
    ran = slurm.run(*where, *kind.options, kind.program, *kind.arguments_for(tmp_path / "model"), check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    kind.check(ran.stdout + ran.stderr, tmp_path / "model")


def test_a_program_that_fails_gives_its_traceback_and_its_code(slurm, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("raise ValueError('no such thing')\n")
    ran = slurm.run(*f"srun -n 1 --overcommit {TASK} --worker 1 {program}".split(), check=False)
    assert ran.returncode == 1
    assert "Traceback (most recent call last)" in ran.stderr
    assert "ValueError: no such thing" in ran.stderr


def test_a_preempted_job_saves_is_put_back_and_goes_on_from_there(slurm, tmp_path):
    steps = 100_000
    command = f"srun -n 3 -N 2 --overcommit {TASK} --ps 1 {PROGRAM} --model={tmp_path}/model --task_s=0.01"
    script = f'steps={steps}; [ "${{SLURM_RESTART_COUNT:-0}}" -gt 0 ] && steps=1\n{command} --steps=$steps\n'
    job = slurm.batch(script, "--requeue", "-N", "2", "-n", "3", "--overcommit")
    slurm.wait_for("worker:1 begins at step")
    slurm.run("scontrol", "requeue", job)
    slurm.wait_for("143")
    # Slurm lets a job that was put back wait for two minutes.
    slurm.begin_at_once(job)
    assert slurm.wait_for_end(job) == "COMPLETED"
    begun = [int(line.rsplit(maxsplit=1)[1]) for line in slurm.output().splitlines() if "worker:0 begins at step" in line]
    # The other worker may have trained before this one looks.
    assert len(begun) == 2
    assert begun[1] > 0
    # The chief may be done before the other worker has started: it needs the parameter server only.
    assert slurm.output().count("is done after step") == 2


def test_a_signal_before_the_time_limit_ends_the_job_with_a_saved_model(slurm, tmp_path):
    script = f"srun -n 2 -N 1 --overcommit {TASK} --ps 1 {PROGRAM} --model={tmp_path}/model --task_s=0.01 --steps=100000\n"
    job = slurm.batch(f"{script}echo code $?\n", "-N", "1", "-n", "2", "--overcommit")
    slurm.wait_for("worker:0 begins at step")
    slurm.run("scancel", "--signal=USR1", job)
    slurm.wait_for("code ")
    assert "code 138" in slurm.output()
    assert slurm.wait_for_end(job) in ("COMPLETED", "CANCELLED")
    assert (tmp_path / "model" / "checkpoint").exists()


def test_a_job_that_began_with_fewer_workers_takes_one_in_that_another_job_brings(slurm, tmp_path):
    more = f"{PROGRAM} --model={tmp_path}/model --task_s=0.01 --steps=1000000"
    begun = slurm.batch(f"srun {TASK} --ps 1 --worker 2 --start 1 {more}\n", "-N", "1", "-n", "2", "-w", NODES[0])
    slurm.wait_for("worker:0 begins at step")
    target = next(line.split()[-1] for line in slurm.output().splitlines() if line.startswith("ps:0 serves at"))
    [port] = free_ports(1)
    address = f"{NODES[1]}:{port}"
    joined = slurm.batch(f"srun {TASK} --join {target} --address {address} {more}\n", "-N", "1", "-n", "1", "-w", NODES[1])
    slurm.wait_for("worker:1 begins at step")
    assert f"worker:1 serves at grpc://{address}" in slurm.output()
    # The one that joined is preempted, and the job goes on; then that ends, too.
    for job in (joined, begun):
        slurm.run("scancel", "--signal=USR1", job)
        slurm.wait_for_end(job)
    assert (tmp_path / "model" / "checkpoint").exists()


def test_a_step_with_another_number_of_tasks_is_told_in_one_line(slurm):
    ran = slurm.run(*f"srun -n 2 --overcommit {TASK} --ps 1 --worker 3 {PROGRAM}".split(), check=False)
    assert ran.returncode == 2
    assert "the job has 4 tasks (1 ps, 3 worker), and Slurm has started 2: srun -n" in ran.stderr
    assert os.linesep.join(ran.stderr.splitlines()).count("Traceback") == 0
