import json
import re

import pytest

from weft.jobs.description import JobError
from weft.jobs.task_place import TaskPlace, place_in_tf_config

CLUSTER = {"ps": ["a:1"], "worker": ["b:1", "b:2"]}


def test_what_tf_config_tells_is_what_it_was_made_of():
    place = TaskPlace(CLUSTER, "worker", 1)
    assert place_in_tf_config(place.tf_config()) == place
    assert place.address == "b:2"
    assert place.name == "worker:1"


def test_an_evaluator_is_no_member_of_the_cluster():
    place = TaskPlace(CLUSTER, "evaluator", 0)
    assert place.address is None
    assert json.loads(place.tf_config())["task"] == {"type": "evaluator", "index": 0}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cluster": {}}', '{"task": {"type": "ps"}}', '{"task": 3}'])
def test_a_tf_config_without_a_task_is_refused(text):
    with pytest.raises(JobError, match=r"^TF_CONFIG does not tell a cluster and a task \("):
        place_in_tf_config(text)


def test_the_tf_config_of_an_operator_goes_on_as_it_is_with_what_weft_does_not_know():
    text = json.dumps(
        {"cluster": {"master": ["m:1"], **CLUSTER}, "task": {"type": "master", "index": "0"}, "environment": "cloud", "job": {}}
    )
    place = place_in_tf_config(text)
    assert place.tf_config() == text
    assert place.flags() == [
        "--ps_hosts=a:1",
        "--master_hosts=m:1",
        "--worker_hosts=b:1,b:2",
        "--job_name=master",
        "--task_index=0",
    ]


@pytest.mark.parametrize(
    ("cluster", "task", "message"),
    [
        (CLUSTER, {"type": "worker", "index": 2}, "this is worker:2, and the cluster has 2 worker: worker:0 to worker:1"),
        ({"worker": []}, {"type": "worker", "index": 0}, "this is worker:0, and the cluster has no worker"),
        (CLUSTER, {"type": "wroker", "index": 0}, "this is a task of 'wroker', and the cluster has ps, worker"),
        (CLUSTER, {"type": "worker", "index": -1}, "the number of this task should be 0 or more, and is -1"),
        (CLUSTER, {"type": "worker", "index": True}, "the number of this task should be 0 or more, and is True"),
        ([], {"type": "worker", "index": 0}, "the cluster should be addresses by role, and is []"),
        ({"worker": "a:1"}, {"type": "worker", "index": 0}, "the tasks of worker should be a list of addresses, and are 'a:1'"),
        ({"worker": ["a"]}, {"type": "worker", "index": 0}, "an address of worker should be host:port, and is 'a'"),
        ({"worker": ["a:70000"]}, {"type": "worker", "index": 0}, "an address of worker should be host:port, and is 'a:70000'"),
        ({"worker": [None]}, {"type": "worker", "index": 0}, "an address of worker should be host:port, and is None"),
        ({"worker": ["a:1", "a:1"]}, {"type": "worker", "index": 0}, "two tasks have the address a:1"),
    ],
)  # fmt: skip
def test_a_tf_config_whose_task_is_none_of_its_cluster_is_told(cluster, task, message):
    with pytest.raises(JobError, match=re.escape(message)):
        place_in_tf_config(json.dumps({"cluster": cluster, "task": task}))
