"""What Kubernetes is told, held by its own schemas."""

import json
from dataclasses import replace

import jsonschema
import kubernetes_validate
import pytest

from tests.jobs.kubernetes.definitions import JOB_SET, REPLICA_TYPES, TF_JOB, closed
from weft.jobs.description import JobDescription, JobError, Restart, Role
from weft.jobs.kubernetes.manifest import manifest
from weft.jobs.kubernetes.pods import Placement
from weft.jobs.scheduled_place import scheduled_place

JOB = JobDescription(
    "/app/train.py",
    (Role("ps", 2, memory="8Gi"), Role("worker", 3, cpus=2.5, gpus=1, environment={"A": "worker"}), Role("evaluator")),
    ("--steps=3",),
    {"A": "all"},
    Restart("on-failure", 2),
)
PLACEMENT = Placement("train", "registry/train:1", "t" * 64, "team")
# The oldest that knows pods that fail for no fault of theirs, and the newest.
VERSIONS = ("1.29", "1.33")


def of_kind(kind, objects):
    return [each for each in objects if each["kind"] == kind]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("probes", [True, False])
def test_core_kinds_have_kubernetes_own_schema(version, probes):
    placement = Placement("train", "registry/train:1", "t" * 64, "team", probes=probes)
    objects = manifest(JOB, placement)
    assert [each["kind"] for each in objects] == ["Secret", "Service", "Job", "Job", "Job", "PodDisruptionBudget"]
    for each in objects:
        kubernetes_validate.validate(each, version, strict=True)


def test_a_drained_node_may_take_one_pod_of_those_that_begin():
    [budget] = of_kind("PodDisruptionBudget", manifest(JOB, PLACEMENT))
    pods = sum(each["spec"]["parallelism"] for each in of_kind("Job", manifest(JOB, PLACEMENT)))
    # Of pods whose controllers have no scale, as Jobs, only this may be said.
    assert budget["spec"]["minAvailable"] == pods - 1
    assert "maxUnavailable" not in budget["spec"]


def test_the_schemas_see_what_is_wrong():
    broken = of_kind("Job", manifest(JOB, PLACEMENT))[0]
    broken["spec"]["completions"] = "two"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, VERSIONS[0], strict=True)


def test_each_pod_finds_its_place_by_its_number():
    ps, worker, evaluator = of_kind("Job", manifest(JOB, PLACEMENT))
    assert worker["spec"]["completionMode"] == "Indexed"
    assert worker["spec"]["completions"] == worker["spec"]["parallelism"] == 3
    told = {each["name"]: each.get("value") for each in worker["spec"]["template"]["spec"]["containers"][0]["env"]}
    place = scheduled_place({**told, "JOB_COMPLETION_INDEX": "2"}, {})
    assert place.name == "worker:2"
    # Kubernetes calls the pods of an Indexed Job by its name and their number, in the Service's domain.
    assert (
        place.address
        == f"{worker['metadata']['name']}-2.{of_kind('Service', manifest(JOB, PLACEMENT))[0]['metadata']['name']}:2222"
    )
    assert worker["spec"]["template"]["spec"]["subdomain"] == "train"
    assert place.cluster["ps"] == ["train-ps-0.train:2222", "train-ps-1.train:2222"]
    assert "evaluator" not in place.cluster
    assert told["A"] == "worker"
    assert {each["name"]: each.get("value") for each in ps["spec"]["template"]["spec"]["containers"][0]["env"]}["A"] == "all"
    assert "readinessProbe" not in evaluator["spec"]["template"]["spec"]["containers"][0]


def test_names_are_found_before_pods_are_ready_and_by_the_selector_of_the_service():
    objects = manifest(JOB, PLACEMENT)
    service = of_kind("Service", objects)[0]["spec"]
    assert service["clusterIP"] == "None"
    assert service["publishNotReadyAddresses"] is True
    for each in of_kind("Job", objects):
        assert service["selector"].items() <= each["spec"]["template"]["metadata"]["labels"].items()


def test_pods_have_their_resources_probes_and_grace():
    _, worker, _ = of_kind("Job", manifest(JOB, PLACEMENT))
    pod = worker["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert container["resources"] == {"requests": {"cpu": "2.5"}, "limits": {"nvidia.com/gpu": "1"}}
    assert container["command"] == ["weft", "task", "--grace", "55", "--wait", "1800", "/app/train.py", "--steps=3"]
    assert container["livenessProbe"]["grpc"] == {"port": 2223}
    assert pod["terminationGracePeriodSeconds"] == 60
    assert worker["spec"]["backoffLimit"] == 6


def test_the_token_stands_in_the_secret_alone():
    objects = manifest(JOB, PLACEMENT)
    assert [each["kind"] for each in objects if "t" * 64 in json.dumps(each)] == ["Secret"]


FILES = ("authority.pem", "client.pem", "ps-0.pem", "ps-1.pem", "worker-0.pem", "worker-1.pem", "worker-2.pem")
ISSUED = {name: f"the text of {name}" for name in FILES}


@pytest.mark.parametrize("kind", ["jobs", "jobset", "tfjob"])
def test_each_role_has_a_secret_with_the_certificates_of_its_tasks(kind):
    objects = manifest(JOB, replace(PLACEMENT, certificates={**ISSUED, "other.pem": "x"}), kind)
    secrets = {each["metadata"]["name"]: sorted(each["stringData"]) for each in of_kind("Secret", objects)}
    assert secrets == {
        "train-ps": ["authority.pem", "ps-0.pem", "ps-1.pem"],
        "train-worker": ["authority.pem", "worker-0.pem", "worker-1.pem", "worker-2.pem"],
        "train-evaluator": ["authority.pem", "client.pem"],
    }
    for each in objects:
        if each["kind"] in ("Secret", "Job"):
            kubernetes_validate.validate(each, VERSIONS[0], strict=True)
    text = json.dumps([each for each in objects if each["kind"] != "Secret"])
    assert "WEFT_CLUSTER_TOKEN" not in text
    assert text.count('"secretName": "train-worker"') == 1


def test_a_certificate_that_is_missing_is_told_with_the_command_that_makes_it():
    for lacks, message in (("worker-1.pem", "issue FOLDER worker-1$"), ("authority.pem", "there is no authority.pem")):
        certificates = {name: text for name, text in ISSUED.items() if name != lacks}
        with pytest.raises(JobError, match=f"^--credentials: .*{message}"):
            manifest(JOB, replace(PLACEMENT, certificates=certificates))


def test_a_job_set_has_a_job_for_each_role_whose_pods_have_its_names():
    secret, job_set, budget = manifest(JOB, PLACEMENT, "jobset")
    assert (secret["kind"], budget["kind"]) == ("Secret", "PodDisruptionBudget")
    spec = job_set["spec"]
    jsonschema.validate(spec, closed(JOB_SET))
    assert [each["name"] for each in spec["replicatedJobs"]] == ["ps", "worker", "evaluator"]
    assert spec["successPolicy"] == {"operator": "All", "targetReplicatedJobs": ["worker", "evaluator"]}
    for each in spec["replicatedJobs"]:
        inner = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": each["name"]}, **each["template"]}
        kubernetes_validate.validate(inner, VERSIONS[0], strict=True)
    told = {
        each["name"]: each.get("value")
        for each in spec["replicatedJobs"][1]["template"]["spec"]["template"]["spec"]["containers"][0]["env"]
    }
    assert json.loads(told["WEFT_CLUSTER"])["worker"][1] == "train-worker-0-1.train:2222"


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        (JOB_SET, {"replicatedJobs": [{"name": "ps"}]}),
        (JOB_SET, {"replicatedJobs": [], "restarts": 2}),
        (JOB_SET, {"successPolicy": {"operator": "all"}}),
        (TF_JOB, {}),
        (TF_JOB, {"tfReplicaSpecs": {"PS": {"restartPolicy": "On failure"}}}),
        (TF_JOB, {"tfReplicaSpecs": {"PS": {"count": 2}}}),
    ],
)
def test_the_definitions_see_what_is_wrong(schema, wrong):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, closed(schema))


def test_a_tf_job_leaves_the_cluster_to_its_operator():
    _, tf_job, _ = manifest(JOB, PLACEMENT, "tfjob")
    jsonschema.validate(tf_job["spec"], closed(TF_JOB))
    replicas = tf_job["spec"]["tfReplicaSpecs"]
    assert replicas.keys() <= REPLICA_TYPES
    assert {name: each["replicas"] for name, each in replicas.items()} == {"PS": 2, "Worker": 3, "Evaluator": 1}
    [container] = replicas["Worker"]["template"]["spec"]["containers"]
    # By these names the operator finds the container and its port.
    assert (container["name"], container["ports"][0]) == ("tensorflow", {"name": "tfjob-port", "containerPort": 2222})
    assert "WEFT_CLUSTER" not in {each["name"] for each in container["env"]}
    for each in replicas.values():
        pod = {"apiVersion": "v1", "kind": "Pod", **each["template"]}
        kubernetes_validate.validate(pod, VERSIONS[0], strict=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "Train"}, "--name: expected at most 46 small letters, digits and hyphens, a letter first, got 'Train'"),
        (
            {"name": "a" * 60},
            f"--name: expected at most 46 small letters, digits and hyphens, a letter first, got '{'a' * 60}'",
        ),
        ({"image": "a b"}, "--image: expected the name of an image, got 'a b'"),
        ({"port": 0}, "expected a port, 1 to 65535, got 0"),
        ({"port": 2223}, "the tasks' port and that for probes are both 2223"),
        ({"grace_s": 0}, "--grace: expected seconds above 0, got 0"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(change, message):
    with pytest.raises(JobError) as caught:
        Placement(**{"name": "train", "image": "i", "token": "t", **change})
    assert str(caught.value) == message


def test_a_role_begins_with_fewer_pods_than_have_addresses():
    job = JobDescription("/app/train.py", (Role("ps", 1), Role("worker", 4, start=2)))
    _, worker = of_kind("Job", manifest(job, PLACEMENT))
    assert worker["spec"]["completions"] == worker["spec"]["parallelism"] == 2
    told = {each["name"]: each.get("value") for each in worker["spec"]["template"]["spec"]["containers"][0]["env"]}
    # Those that `kubectl patch` adds find their place by their number.
    assert scheduled_place({**told, "JOB_COMPLETION_INDEX": "3"}, {}).address == "train-worker-3.train:2222"
