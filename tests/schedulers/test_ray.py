"""Jobs on a real Ray cluster of two nodes on this machine: `make ray`."""

import importlib.util
import os
import signal
from pathlib import Path

import pytest

from tests.schedulers.kinds import EXAMPLES, KINDS
from tests.schedulers.launched import ROOT, fails_with_its_words, goes_on_after_a_kill, launching, trains_to_its_end

pytestmark = [pytest.mark.scheduler, pytest.mark.timeout(400)]

PROGRAM = str(Path(__file__).with_name("train.py"))


@pytest.fixture(scope="module")
def cluster():
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed: make ray installs it")
    os.environ["PYTHONPATH"] = str(ROOT)
    made = importlib.import_module("ray.cluster_utils").Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    made.add_node(num_cpus=2)
    yield made
    made.shutdown()


@pytest.fixture
def launch(cluster):
    with launching("--on", "ray", "--ray-address", cluster.address, JAX_PLATFORMS="cpu", RAY_DEDUP_LOGS="0") as start:
        yield start


def test_the_tasks_train_as_actors_and_their_lines_come_back(launch, tmp_path):
    output, notes = launch("--ps", "1", "--worker", "2", PROGRAM, "--steps=20", f"--model={tmp_path}/model").communicate(
        timeout=300
    )
    assert "ps:0     | ps:0 serves at grpc://" in output, notes
    assert output.count("is done after step") == 2
    assert (tmp_path / "model" / "checkpoint").exists()


@pytest.mark.parametrize("kind", [*KINDS, *EXAMPLES], ids=str)
def test_programs_of_all_kinds_train_and_end(launch, kind, tmp_path):
    trains_to_its_end(launch, kind, tmp_path)


@pytest.mark.parametrize("kind", KINDS[:2], ids=str)
def test_a_worker_that_is_killed_comes_back(launch, kind, tmp_path):
    goes_on_after_a_kill(launch, kind, tmp_path)


def test_a_failure_comes_back_with_its_words_and_its_exit_code(launch, tmp_path):
    fails_with_its_words(launch, tmp_path)


def test_a_task_that_fails_is_started_again_as_the_job_says(launch, tmp_path):
    program = tmp_path / "program.py"
    once = str(tmp_path / "once")
    lines = [
        "import os, sys",
        f"path = {once!r}",
        "if not os.path.exists(path):",
        "    open(path, 'x').close()",
        "    sys.exit(7)",
    ]
    program.write_text("\n".join([*lines, "print('again')", ""]))
    process = launch("--max-restarts", "1", str(program))
    output, notes = process.communicate(timeout=300)
    assert process.returncode == 0, notes
    assert "worker:0 | again" in output
    assert "it is started again" in notes


def test_ctrl_c_stops_the_tasks(launch, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import signal\nprint('up', flush=True)\nsignal.pause()\n")
    process = launch(str(program))
    assert process.stdout.readline() == "worker:0 | up\n"
    process.send_signal(signal.SIGINT)
    _, notes = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "stopping worker:0" in notes


def test_a_cluster_without_room_is_told_and_ctrl_c_ends_the_wait(launch, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("")
    process = launch("--cpus", "99", str(program))
    told = process.stderr.readline()
    assert "the Ray cluster has no room for [{'CPU': 99.0}]" in told
    process.send_signal(signal.SIGINT)
    _, notes = process.communicate(timeout=60)
    assert process.returncode == 130, notes


def test_a_job_that_loses_a_node_goes_on_with_the_nodes_that_are_left(cluster, launch, tmp_path):
    # With room for the whole job even without the node that goes.
    lost, spare = cluster.add_node(num_cpus=1, resources={"lost": 1}), cluster.add_node(num_cpus=3)
    try:
        model = tmp_path / "model"
        process = launch(
            "--max-restarts", "2", "--ps", "2", "--worker", "2", PROGRAM, "--steps=1500", "--task_s=0.01", f"--model={model}",
        )  # fmt: skip
        lines = iter(process.stdout.readline, "")
        assert any("begins at step 0" in line for line in lines)
        # Tasks are spread over the nodes, so the one that goes has one of them.
        cluster.remove_node(lost)
        again = [line for line in lines if "begins at step" in line or "is done after step" in line]
        notes = process.stderr.read()
        process.wait(timeout=300)
        assert process.returncode == 0, notes
        assert "a node was lost, and with it a task: all tasks are started again" in notes
        assert sum("is done after step" in line for line in again) == 2
    finally:
        cluster.remove_node(spare)
