"""Resolvers that ask a scheduler, beside what TensorFlow 1.15 says for the same."""

import json
import os
from types import SimpleNamespace

import pytest

import weft as tf

resolvers = tf.distribute.cluster_resolver
STEP = {
    "SLURM_PROCID": "3",
    "SLURM_STEP_NUM_TASKS": "5",
    "SLURM_STEP_TASKS_PER_NODE": "2(x2),1",
    "SLURM_STEP_NODELIST": "n1,n2,n3",
}


@pytest.fixture
def slurm(monkeypatch):
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        monkeypatch.delenv(name)
    for name, value in {**STEP, "CUDA_VISIBLE_DEVICES": ""}.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_slurm_tells_the_cluster_the_task_and_its_gpus(slurm):
    resolver = resolvers.SlurmClusterResolver({"ps": 1, "worker": 4}, gpus_per_node=2, tasks_per_node=2)
    assert resolver.cluster_spec().as_dict() == {"ps": ["n1:8888"], "worker": ["n1:8889", "n2:8888", "n2:8889", "n3:8888"]}
    assert resolver.get_task_info() == ("worker", 2)
    assert (resolver.task_type, resolver.task_id, resolver.master()) == ("worker", 2, "grpc://n2:8889")
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "1"


def test_slurms_tasks_are_all_workers_where_no_jobs_are_told(slurm):
    resolver = resolvers.SlurmClusterResolver(gpus_per_node=4, gpus_per_task=None)
    assert resolver.cluster_spec().as_dict() == {"worker": ["n1:8888", "n1:8889", "n2:8888", "n2:8889", "n3:8888"]}
    assert (resolver.get_task_info(), resolver.num_accelerators()) == (("worker", 3), {"GPU": 2})


@pytest.mark.parametrize(
    ("jobs", "options", "message"),
    [
        ({"worker": 6}, {"gpus_per_node": 2}, "Requested 6 tasks but 5 were assigned."),
        ({"worker": 5}, {}, "Requested more GPUs per node then available: 2 x 1 of 1."),
    ],
)
def test_slurms_step_must_fit_the_jobs(slurm, jobs, options, message):
    with pytest.raises(RuntimeError) as caught:
        resolvers.SlurmClusterResolver(jobs, **options)
    assert str(caught.value) == message


def test_without_slurm_there_is_no_cluster_of_its(slurm):
    slurm.delenv("SLURM_STEP_TASKS_PER_NODE")
    with pytest.raises(RuntimeError, match="Neither `tasks_per_node` or SLURM_NTASKS_PER_NODE is set"):
        resolvers.SlurmClusterResolver({"worker": 5})


class Pods:
    """Kubernetes' client, of which one call is used."""

    def __init__(self, **pods):
        self.pods = pods

    def list_pod_for_all_namespaces(self, *, label_selector):
        pods = self.pods[label_selector.replace("-", "_").replace("=", "_")]
        made = [
            SimpleNamespace(status=SimpleNamespace(phase=phase, host_ip=host), metadata=SimpleNamespace(name=f"pod-{host}"))
            for host, phase in pods
        ]
        return SimpleNamespace(items=made)


def test_kubernetes_tells_the_hosts_of_running_pods_in_the_order_of_their_names():
    pods = Pods(job_name_tensorflow=[("h2", "Running"), ("h1", "Running")], job_ps=[("h3", "Running")])
    resolver = resolvers.KubernetesClusterResolver(override_client=pods)
    assert resolver.cluster_spec().as_dict() == {"worker": ["h1:8470", "h2:8470"]}
    assert (resolver.master(), resolver.master("worker", 0), resolver.task_type) == ("", "grpc://h1:8470", None)
    labels = {"ps": ["job=ps"], "worker": ["job-name=tensorflow"]}
    resolver = resolvers.KubernetesClusterResolver(labels, 2222, override_client=pods)
    assert resolver.cluster_spec().as_dict() == {"ps": ["h3:2222"], "worker": ["h1:2222", "h2:2222"]}


def test_a_pod_that_does_not_run_is_no_task():
    resolver = resolvers.KubernetesClusterResolver(override_client=Pods(job_name_tensorflow=[("h1", "Pending")]))
    with pytest.raises(RuntimeError, match=r'^Pod "pod-h1" is not running; phase: "Pending"$'):
        resolver.cluster_spec()


def test_contrib_has_the_same_resolvers():
    assert tf.contrib.cluster_resolver.SlurmClusterResolver is resolvers.SlurmClusterResolver
    assert tf.contrib.cluster_resolver.UnionClusterResolver is resolvers.UnionResolver


CLUSTER = {"ps": ["p:1"], "worker": ["a:1", "b:2"]}


@pytest.mark.parametrize(
    ("told", "masters"),
    [
        ({"cluster": CLUSTER, "task": {"type": "worker", "index": 1}}, ("b:2", "p:1")),
        ({"cluster": CLUSTER, "task": {"type": "worker", "index": 1}, "rpc_layer": "grpc"}, ("grpc://b:2", "grpc://p:1")),
        ({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}, "rpc_layer": "grpc"}, ("", "")),
        ({}, ("", "")),
        ({"cluster": CLUSTER, "session_master": "grpc://m:1", "rpc_layer": "other"}, ("grpc://m:1", "grpc://m:1")),
    ],
)
def test_tf_config_tells_the_master_as_tensorflow_has_it(monkeypatch, told, masters):
    monkeypatch.setenv("TF_CONFIG", json.dumps(told))
    resolver = resolvers.TFConfigClusterResolver()
    assert (resolver.master(), resolver.master("ps", 0)) == masters
    assert (resolver.rpc_layer, resolver.environment) == (told.get("rpc_layer"), None)


def test_tf_config_without_a_task_has_no_master_of_its_own(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": CLUSTER}))
    with pytest.raises(ValueError, match=r"No such job in cluster: None\. TF_CONFIG has no 'task'"):
        resolvers.TFConfigClusterResolver().master()


def test_a_tasks_devices_are_counted_by_asking_its_server(monkeypatch):
    with tf.train.Server({"worker": ["localhost:0"]}) as server:
        address = server.target.removeprefix("grpc://")
        cluster = {"worker": [address], "ps": ["nowhere.invalid:1"]}
        told = {"cluster": cluster, "task": {"type": "worker", "index": 0}, "rpc_layer": "grpc"}
        monkeypatch.setenv("TF_CONFIG", json.dumps(told))
        assert resolvers.TFConfigClusterResolver().num_accelerators() == {"CPU": 1}


def test_the_first_of_a_union_tells_the_master():
    simple = resolvers.SimpleClusterResolver
    one, other = (tf.train.ClusterSpec({job: [f"{job}:1"]}) for job in "ab")
    union = resolvers.UnionResolver(simple(one, master="m", rpc_layer="grpc"), simple(other, num_accelerators={"GPU": 3}))
    assert (union.master(), union.master("b", 0), union.num_accelerators()) == ("grpc://m", "grpc://b:1", {})


def test_a_union_has_the_tasks_of_one_job_one_after_the_other():
    def union(*jobs):
        made = [resolvers.SimpleClusterResolver(tf.train.ClusterSpec({"worker": tasks})) for tasks in jobs]
        return resolvers.UnionResolver(*made).cluster_spec().as_dict()

    assert union(["d", "e"], ["a", "b"]) == {"worker": ["d", "e", "a", "b"]}
    assert union({3: "d"}, ["a", "b"]) == {"worker": {0: "a", 1: "b", 3: "d"}}
    with pytest.raises(KeyError, match="Duplicate keys detected when merging two ClusterSpecs: worker, task 1, at d and at b"):
        union({1: "d"}, ["a", "b"])
