"""What srun tells, without Slurm; tests/schedulers/test_slurm.py runs in one."""

import pytest

from weft.jobs.description import JobError
from weft.jobs.slurm import SlurmStep, expand_counts

STEP = {
    "SLURM_PROCID": "3", "SLURM_STEP_TASKS_PER_NODE": "2(x2),1", "SLURM_STEP_NODELIST": "a,b,c", "SLURM_JOB_ID": "7",
    "SLURM_STEP_ID": "0",
}  # fmt: skip


def test_counts_are_expanded():
    assert expand_counts("2(x3),1") == [2, 2, 2, 1]
    assert expand_counts("4") == [4]
    with pytest.raises(JobError, match=r"expected tasks per node as Slurm tells them, such as '2\(x3\),1', got '2x3'"):
        expand_counts("2x3")


def test_roles_take_ranks_in_their_order_and_tasks_of_a_node_have_ports_of_their_own():
    place = SlurmStep.of(STEP).place({"ps": 1, "worker": 4}, 9000)
    assert place.cluster == {"ps": ["a:9000"], "worker": ["a:9001", "b:9000", "b:9001", "c:9000"]}
    assert place.name == "worker:2"


def test_a_cyclic_distribution_goes_round_the_nodes():
    step = SlurmStep.of({**STEP, "SLURM_DISTRIBUTION": "cyclic:block"})
    assert step.addresses(9000) == ["a:9000", "b:9000", "c:9000", "a:9001", "b:9001"]


def test_an_evaluator_has_a_rank_and_is_no_member():
    place = SlurmStep.of({**STEP, "SLURM_PROCID": "4"}).place({"ps": 1, "worker": 3, "evaluator": 1}, 9000)
    assert place.name == "evaluator:0"
    assert "evaluator" not in place.cluster
    assert place.address is None


def test_jobs_that_follow_each_other_have_other_ports_and_reserved_ones_win():
    first, second = (SlurmStep.of({**STEP, "SLURM_JOB_ID": job}).addresses() for job in ("7", "8"))
    assert not {*first} & {*second}
    assert SlurmStep.of({**STEP, "SLURM_STEP_RESV_PORTS": "12100-12101"}).addresses()[:2] == ["a:12100", "a:12101"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"SLURM_STEP_NODELIST": ""}, "SLURM_STEP_NODELIST is not set: start the program by srun, in an allocation of Slurm's"),
        ({"SLURM_PROCID": "x"}, "SLURM_PROCID should be the number of this task, and is 'x'"),
        ({"SLURM_DISTRIBUTION": "arbitrary"},
         "srun --distribution=arbitrary: weft can place tasks for 'block' and 'cyclic' only"),
        ({"SLURM_STEP_NODELIST": "a"}, "Slurm tells 1 nodes (a) and the tasks of 3 (2(x2),1)"),
        ({"SLURM_STEP_RESV_PORTS": "x"}, "SLURM_STEP_RESV_PORTS should be ports such as '12000-12003', and is 'x'"),
        ({"SLURM_STEP_RESV_PORTS": "1"},
         "Slurm has reserved 1 ports on each node, and 2 tasks are on one: srun --resv-ports=2"),
        ({"SLURM_PROCID": "5"}, "this is task 5 of Slurm's, and there are 5"),
        ({"SLURM_STEP_TASKS_PER_NODE": "1(x3)"},
         "the job has 5 tasks (1 ps, 4 worker), and Slurm has started 3: srun -n"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_in_one_line(change, message):
    with pytest.raises(JobError) as caught:
        SlurmStep.of({**STEP, **change}).place({"ps": 1, "worker": 4})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"SLURM_STEP_TASKS_PER_NODE": "2(x99999999999)"}, "stands for more than 100,000 nodes"),
        ({"SLURM_STEP_RESV_PORTS": "9-1"}, "SLURM_STEP_RESV_PORTS should be ports such as '12000-12003', and is '9-1'"),
        ({"SLURM_STEP_RESV_PORTS": "70000"}, "should be ports such as"),
    ],
)
def test_numbers_that_cannot_be_are_told(told, message):
    with pytest.raises(JobError, match=message):
        SlurmStep.of({**STEP, **told})


def test_ports_end_at_the_last_one():
    with pytest.raises(JobError, match="the 2 tasks of a node need ports from 65535 on, and 65535 is the last"):
        SlurmStep.of(STEP).addresses(65535)


def test_tasks_that_come_later_have_addresses_that_they_announce():
    place = SlurmStep.of(STEP).place({"ps": 1, "worker": 4}, 9000, {"worker": 2})
    assert place.cluster["worker"][:2] == ["a:9001", "b:9000"]
    assert place.cluster["worker"][4:] == ["worker-4.invalid:12000", "worker-5.invalid:12000"]
