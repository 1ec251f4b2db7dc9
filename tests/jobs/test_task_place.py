import json

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
