"""What a real API server of Kubernetes says to weft's manifests, and what the resolver reads there: `make api-server`."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from tests.jobs.kubernetes.definitions import definition
from tests.schedulers.api_server import ApiServer, Object, RefusedError, what_is_missing
from weft.cli.command_line import main

pytestmark = [pytest.mark.scheduler, pytest.mark.timeout(300)]

JOBS = {
    "plain": ["--worker=2"],
    "whole": [
        *("--ps=2", "--worker=4", "--chief=1", "--evaluator=1", "--cpus=worker=4", "--memory=8Gi", "--gpus=worker=1"),
        *("--env=A=b", "--env=ps:C=d", "--restart=on-failure", "--max-restarts=5", "--grace=90", "--start=worker=2"),
    ],
    "no probes": ["--ps=1", "--no-probes"],
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    if reason := what_is_missing():
        pytest.skip(reason)
    started = ApiServer(tmp_path_factory.mktemp("kubernetes"))
    yield started
    started.stop()


def manifest(capsys: pytest.CaptureFixture[str], *options: str) -> list[Object]:
    """The objects that `weft k8s manifest` prints."""
    assert main(["k8s", "manifest", "--name=digits", "--image=i", "--format=json", *options, "/app/train.py"]) == 0
    items: list[Object] = json.loads(capsys.readouterr().out)["items"]
    return items


def as_it_knows_them(server: ApiServer, objects: list[Object]) -> list[Object]:
    """Objects for a server that is older than some of what is in them: 1.20 has no probes by gRPC and no policy/v1."""
    text = json.dumps(objects)
    if not server.has("policy/v1"):
        text = text.replace('"policy/v1"', '"policy/v1beta1"')
    if not server.has_field("io.k8s.api.core.v1.Probe", "grpc"):
        text = text.replace('{"grpc": {"port": 2223}', '{"tcpSocket": {"port": 2223}')
    known: list[Object] = json.loads(text)
    return known


def later_fields(server: ApiServer) -> set[str]:
    """What a server of this age leaves out of a Job, since it does not know it."""
    names = ("completionMode", "podFailurePolicy")
    return {f".spec.{name}" for name in names if not server.has_field("io.k8s.api.batch.v1.JobSpec", name)}


def lost(sent: Any, kept: Any, path: str = "") -> set[str]:
    """Where what is kept is not what was sent; what the server has added counts not."""
    if isinstance(sent, dict):
        missing = {f"{path}.{key}" for key in sent if key not in kept}
        return missing.union(*(lost(value, kept[key], f"{path}.{key}") for key, value in sent.items() if key in kept))
    if isinstance(sent, list) and isinstance(kept, list) and len(sent) == len(kept):
        return set().union(
            *(lost(one, other, f"{path}[{place}]") for place, (one, other) in enumerate(zip(sent, kept, strict=True)))
        )
    return set() if sent == kept else {path}


@pytest.mark.parametrize("job", JOBS)
def test_every_object_is_valid_and_kept_with_all_its_fields(
    server: ApiServer, job: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for sent in as_it_knows_them(server, manifest(capsys, *JOBS[job])):
        kept = server.create(sent, is_dry=True)
        # A Secret's texts are kept as bytes.
        may_be_lost = {"Secret": {".stringData"}, "Job": later_fields(server)}.get(sent["kind"], set())
        assert lost(sent, kept) <= may_be_lost, sent["kind"]


def test_a_job_with_certificates_is_valid_too(server: ApiServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = str(tmp_path / "keys")
    assert main(["credentials", "authority", keys]) == 0
    assert main(["credentials", "issue", keys, "ps:0", "worker:0", "worker:1"]) == 0
    capsys.readouterr()
    for sent in as_it_knows_them(server, manifest(capsys, "--ps=1", "--worker=2", f"--credentials={keys}")):
        may_be_lost = {"Secret": {".stringData"}, "Job": later_fields(server)}.get(sent["kind"], set())
        assert lost(sent, server.create(sent, is_dry=True)) <= may_be_lost


@pytest.mark.parametrize("kind", ["JobSet", "TFJob"])
def test_operators_kinds_are_valid_by_their_definitions_and_kept_with_all_their_fields(
    server: ApiServer, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.define(definition(kind))
    for options in JOBS.values():
        (sent,) = (each for each in manifest(capsys, f"--kind={kind.lower()}", *options) if each["kind"] == kind)
        assert lost(sent, server.create(sent, is_dry=True)) == set()
        sent["spec"]["successPolicy"] = 3
        with pytest.raises(RefusedError, match="successPolicy"):
            server.create(sent, is_dry=True)


def test_the_jobs_label_finds_all_that_was_created(server: ApiServer, capsys: pytest.CaptureFixture[str]) -> None:
    made = as_it_knows_them(server, manifest(capsys, "--ps=1", "--worker=2"))
    for each in made:
        server.create(each)
    for each in made:
        assert each["metadata"]["name"] in server.names(each, "weft/job=digits"), each["kind"]
    with pytest.raises(RefusedError, match="already exists"):
        server.create(made[0])


@pytest.mark.parametrize("name", ["a" * 64, "Digits", "digits.", "-digits", "di_gits"])
def test_a_name_that_the_server_refuses_is_refused_before_it_gets_there(
    server: ApiServer, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (service,) = (each for each in manifest(capsys) if each["kind"] == "Service")
    service["metadata"]["name"] = name
    with pytest.raises(RefusedError, match="Invalid value"):
        server.create(service, is_dry=True)
    with pytest.raises(SystemExit):
        main(["k8s", "manifest", f"--name={name}", "--image=i", "/app/train.py"])
    told = capsys.readouterr().err
    assert told.startswith("weft k8s manifest: error: ")
    assert told.count("\n") == 1


def test_the_resolver_finds_running_pods_by_their_labels(server: ApiServer) -> None:
    if importlib.util.find_spec("kubernetes") is None:
        pytest.skip("Kubernetes' client is not installed: pip install 'weft[k8s]'")
    client = importlib.import_module("kubernetes.client")
    configuration = client.Configuration(host=server.url, api_key={"authorization": f"Bearer {server.token}"})
    configuration.verify_ssl = False
    core = client.CoreV1Api(client.ApiClient(configuration))
    for place in range(2):
        metadata = {"name": f"worker-{place}", "labels": {"job-name": "tensorflow"}}
        server.create(
            {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        )
    resolver = tf.distribute.cluster_resolver.KubernetesClusterResolver(override_client=core)
    with pytest.raises(RuntimeError, match='Pod "worker-0" is not running; phase: "Pending"'):
        resolver.cluster_spec()
    for place in range(2):
        status = {"status": {"phase": "Running", "hostIP": f"192.0.2.{place + 1}"}}
        path = f"/api/v1/namespaces/default/pods/worker-{place}/status"
        server.ask("PATCH", path, status, "application/merge-patch+json")
    assert resolver.cluster_spec().as_dict() == {"worker": ["192.0.2.1:8470", "192.0.2.2:8470"]}
    assert resolver.master("worker", 1) == "grpc://192.0.2.2:8470"
