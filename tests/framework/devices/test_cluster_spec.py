"""A cluster is described by lists, dicts or protos, compared by content, and asked for its tasks."""

from __future__ import annotations

from typing import Any

import pytest

from weft.errors import InvalidArgumentError
from weft.framework.devices.cluster_spec import ClusterSpec
from weft.platform.hosts.host_port import split_address

DENSE = {"ps": ["ps0:2222", "ps1:2222"], "worker": ["w0:2222", "w1:2222", "w2:2222"]}
SPARSE = {"ps": {0: "ps0:2222"}, "worker": {1: "w1:2222", 3: "w3:2222"}}


@pytest.mark.parametrize("content", [DENSE, SPARSE, {}])
def test_a_cluster_survives_its_proto(content: dict[str, Any]) -> None:
    cluster = ClusterSpec(content)
    assert ClusterSpec(cluster.as_cluster_def()) == cluster
    assert ClusterSpec(cluster) == cluster
    assert ClusterSpec(cluster.as_dict()) == cluster
    assert hash(ClusterSpec(cluster.as_cluster_def())) == hash(cluster)


def test_dense_jobs_are_lists_and_sparse_ones_dicts() -> None:
    assert ClusterSpec(DENSE).as_dict() == DENSE
    assert ClusterSpec(SPARSE).as_dict() == {"ps": ["ps0:2222"], "worker": {1: "w1:2222", 3: "w3:2222"}}


def test_clusters_are_compared_by_content() -> None:
    assert ClusterSpec({"a": {0: "h:1"}}) == ClusterSpec({"a": ["h:1"]})
    assert ClusterSpec({"a": ["h:1"]}) != ClusterSpec({"a": ["h:2"]})
    assert ClusterSpec({"a": ["h:1"]}) != {"a": ["h:1"]}
    assert not ClusterSpec({})
    assert ClusterSpec(DENSE)


def test_a_cluster_is_printed_with_its_jobs_in_order() -> None:
    assert str(ClusterSpec({"b": ["h:1"], "a": {1: "h:2"}})) == "ClusterSpec({'a': {1: 'h:2'}, 'b': ['h:1']})"


def test_tasks_are_asked_for() -> None:
    cluster = ClusterSpec(SPARSE)
    assert sorted(cluster.jobs) == ["ps", "worker"]
    assert (cluster.num_tasks("worker"), cluster.task_indices("worker")) == (2, [1, 3])
    assert cluster.task_address("worker", 3) == "w3:2222"
    assert cluster.job_tasks("worker") == [None, "w1:2222", None, "w3:2222"]


def test_unknown_jobs_and_tasks_are_told() -> None:
    cluster = ClusterSpec(SPARSE)
    for ask in (cluster.num_tasks, cluster.task_indices, cluster.job_tasks):
        with pytest.raises(ValueError, match="No such job in cluster: 'chief'"):
            ask("chief")
    with pytest.raises(ValueError, match="No such job in cluster"):
        cluster.task_address("chief", 0)
    with pytest.raises(ValueError, match="No task with index 2 in job 'worker'"):
        cluster.task_address("worker", 2)


@pytest.mark.parametrize(
    "content", ["a string", 3, {"a": "h:1"}, {"a": [1]}, {1: ["h:1"]}, {"a": {0: 1}}, {"a": {True: "h:1"}}]
)
def test_what_is_no_cluster_is_refused(content: Any) -> None:
    with pytest.raises(TypeError):
        ClusterSpec(content)


@pytest.mark.parametrize(("address", "parts"), [("h:1", ("h", 1)), ("[::1]:80", ("::1", 80)), ("a.b:0", ("a.b", 0))])
def test_addresses_are_split(address: str, parts: tuple[str, int]) -> None:
    assert split_address(address) == parts


@pytest.mark.parametrize("address", ["localhost", "h:", "h:x", "h:70000", ""])
def test_an_address_without_a_port_is_refused(address: str) -> None:
    with pytest.raises(InvalidArgumentError, match="port"):
        split_address(address)


def test_indices_may_be_the_texts_that_json_has() -> None:
    assert ClusterSpec({"a": {"1": "h:1"}}) == ClusterSpec({"a": {1: "h:1"}})
    assert ClusterSpec({b"a": [b"h:1"]}).as_dict() == {"a": ["h:1"]}
    with pytest.raises(ValueError, match="Task indices of job 'a' must be integers; got 'q'"):
        ClusterSpec({"a": {"q": "h:1"}})
