import json

import pytest

from weft.jobs.description import JobError
from weft.jobs.scheduled_place import scheduled_place
from weft.jobs.task_place import TaskPlace

CLUSTER = {"ps": ["t-ps-0.t:2222"], "worker": ["t-worker-0.t:2222", "t-worker-1.t:2222"]}
POD = {"WEFT_CLUSTER": json.dumps(CLUSTER), "WEFT_ROLE": "worker", "JOB_COMPLETION_INDEX": "1"}
SLURM = {"SLURM_PROCID": "1", "SLURM_STEP_TASKS_PER_NODE": "4", "SLURM_STEP_NODELIST": "a"}


def test_a_pod_is_told_its_place_by_the_manifest_and_its_number_by_kubernetes():
    assert scheduled_place({**POD, **SLURM}, {}) == TaskPlace(CLUSTER, "worker", 1)


def test_workers_are_the_tasks_of_slurm_that_others_leave():
    place = scheduled_place(SLURM, {"ps": 1, "worker": None}, 9000)
    assert place.cluster == {"ps": ["a:9000"], "worker": ["a:9001", "a:9002", "a:9003"]}
    assert place.name == "worker:0"


def test_tf_config_tells_the_place_where_no_scheduler_does():
    place = TaskPlace(CLUSTER, "ps", 0)
    assert scheduled_place({"TF_CONFIG": place.tf_config()}, {}) == place


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, "no scheduler has started this process: it has neither WEFT_CLUSTER"),
        ({**POD, "WEFT_CLUSTER": "[]"}, "WEFT_CLUSTER should be addresses by role, and is '[]'"),
        ({**POD, "WEFT_ROLE": "boss"}, "WEFT_ROLE should be one of ps, chief, worker, evaluator, and is 'boss'"),
        ({**POD, "JOB_COMPLETION_INDEX": ""}, "JOB_COMPLETION_INDEX should be the number of this pod in its role, and is ''"),
    ],
)
def test_an_environment_that_tells_none_is_refused(environment, message):
    with pytest.raises(JobError) as caught:
        scheduled_place(environment, {"worker": 1})
    assert str(caught.value).startswith(message)
