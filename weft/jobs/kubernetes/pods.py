"""The pods of a job: what all of its manifests have in common."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from weft.jobs.description import JobDescription, JobError
from weft.jobs.scheduled_place import CLUSTER_VARIABLE, ROLE_VARIABLE

Manifest: TypeAlias = dict[str, object]
"""An object of Kubernetes', as it is written in JSON or YAML."""

LABEL: Final = "weft/job"
ROLE_LABEL: Final = "weft/role"
_NAME: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_NAMESPACE: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LONGEST_NAMESPACE: Final = 63
# The longest pod's name, such as `NAME-evaluator-0-0`, is a host's name.
_LONGEST_NAME: Final = 63 - len("-evaluator-0-0000")
_TOKEN_VARIABLE: Final = "WEFT_CLUSTER_TOKEN"
_HEALTH_VARIABLE: Final = "WEFT_HEALTH_PORT"
# Linux takes no longer text from an environment, with its name.
_LONGEST_VARIABLE: Final = 128 * 1024 - 256
ISSUED_VARIABLE: Final = "WEFT_ISSUED_CREDENTIALS"
"""Names the folder in which a pod finds the certificates of its role; `weft task` takes its own out of it."""
AUTHORITY_FILE: Final = "authority.pem"
_ISSUED_FOLDER: Final = "/etc/weft/credentials"
# Readable by the owner and the pod's group, whichever user the image runs as.
_GROUP: Final = 1000
_MODE: Final = 0o440


@dataclass(frozen=True)
class Placement:
    """How and under which name a job runs in a cluster of Kubernetes'.

    Args:
        name: the job's, with which all names begin.
        image: the container's image, which has weft and the program.
        token: the cluster's token.
        namespace: where; the one that `kubectl` is set to when None.
        port: where each task listens.
        health_port: where each task tells probes in plain text whether it serves.
        grace_s: how long a pod has between SIGTERM and SIGKILL.
        wait_s: how long a pod's session waits for pods that do not answer, such as those that have no node yet.
        probes: whether pods are probed; a program that makes no server cannot be.
        certificates: what pods know each other by instead of the token: `authority.pem` and each task's `ROLE-N.pem`, by name.

    Raises:
        JobError: the name cannot be one, or a port or the grace is none.
    """

    name: str
    image: str
    token: str
    namespace: str | None = None
    port: int = 2222
    health_port: int = 2223
    grace_s: int = 60
    wait_s: int = 1800
    probes: bool = True
    certificates: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or len(self.name) > _LONGEST_NAME:
            raise JobError(
                f"--name: expected at most {_LONGEST_NAME} small letters, digits and hyphens, a letter first, got {self.name!r}"
            )
        is_namespace = self.namespace is None or _NAMESPACE.fullmatch(self.namespace)
        if not is_namespace or len(self.namespace or "") > _LONGEST_NAMESPACE:
            raise JobError(
                f"--namespace: expected at most {_LONGEST_NAMESPACE} small letters, digits and hyphens, got {self.namespace!r}"
            )
        if not self.image or any(each.isspace() for each in self.image):
            raise JobError(f"--image: expected the name of an image, got {self.image!r}")
        for port in (self.port, self.health_port):
            if not 0 < port < 65536:
                raise JobError(f"expected a port, 1 to 65535, got {port}")
        if self.port == self.health_port:
            raise JobError(f"the tasks' port and that for probes are both {self.port}")
        if self.grace_s < 1:
            raise JobError(f"--grace: expected seconds above 0, got {self.grace_s}")
        if self.wait_s < 1:
            raise JobError(f"--wait: expected seconds above 0, got {self.wait_s}")

    def metadata(self, name: str, role: str | None = None) -> Manifest:
        """The metadata of an object."""
        found: Manifest = {"name": name, "labels": self.labels(role)}
        return found if self.namespace is None else {**found, "namespace": self.namespace}

    def secret_name(self, role: str) -> str:
        """The name of the Secret that a role's pods have."""
        return f"{self.name}-{role}" if self.certificates is not None else self.name

    def labels(self, role: str | None = None) -> dict[str, str]:
        """The labels by which the job's objects, or a role's pods, are found."""
        return {LABEL: self.name} if role is None else {LABEL: self.name, ROLE_LABEL: role}


def pod_template(
    job: JobDescription,
    role: str,
    placement: Placement,
    cluster: Mapping[str, Sequence[str]] | None,
    more: Mapping[str, object] | None = None,
) -> Manifest:
    """The template of a role's pods.

    Args:
        job: the job.
        role: the role.
        placement: how it runs.
        cluster: the addresses that pods are told; None where something else tells them TF_CONFIG.
        more: what else their specification has.
    """
    container: Manifest = {
        "name": "tensorflow" if cluster is None else "weft",
        "image": placement.image,
        "command": _command(job, placement),
        "env": _environment(job, role, placement, cluster),
        "ports": [
            {"name": "tfjob-port" if cluster is None else "grpc", "containerPort": placement.port},
            {"name": "health", "containerPort": placement.health_port},
        ],
    }
    if resources := _resources(job, role):
        container["resources"] = resources
    # An evaluator serves nobody.
    if placement.probes and role != "evaluator":
        container.update(_probes(placement))
    spec: Manifest = {"containers": [container], "terminationGracePeriodSeconds": placement.grace_s, **(more or {})}
    if placement.certificates is not None:
        container["volumeMounts"] = [{"name": "credentials", "mountPath": _ISSUED_FOLDER, "readOnly": True}]
        spec["securityContext"] = {"fsGroup": _GROUP}
        secret = {"secretName": placement.secret_name(role), "defaultMode": _MODE}
        spec["volumes"] = [{"name": "credentials", "secret": secret}]
    return {"metadata": {"labels": placement.labels(role)}, "spec": spec}


def _command(job: JobDescription, placement: Placement) -> list[str]:
    # The model is saved while the last seconds are still there.
    grace_s = max(placement.grace_s - 5, 1)
    options = ["--grace", str(grace_s), "--wait", str(placement.wait_s), *([] if job.flags else ["--no-flags"])]
    return ["weft", "task", *options, job.program, *job.arguments]


def _environment(
    job: JobDescription, role: str, placement: Placement, cluster: Mapping[str, Sequence[str]] | None
) -> list[Manifest]:
    told = job.environment_of(role)
    if cluster is not None:
        told[CLUSTER_VARIABLE] = addresses = json.dumps(cluster)
        if len(addresses) > _LONGEST_VARIABLE:
            raise JobError(
                f"the addresses of {job.task_count} tasks take {len(addresses):,} bytes, and a variable of a pod's environment "
                f"has {_LONGEST_VARIABLE:,}: fewer tasks, or a shorter --name"
            )
        told[ROLE_VARIABLE] = role
    if placement.probes:
        told[_HEALTH_VARIABLE] = str(placement.health_port)
    if placement.certificates is not None:
        told[ISSUED_VARIABLE] = _ISSUED_FOLDER
    variables: list[Manifest] = [{"name": name, "value": value} for name, value in told.items()]
    if placement.certificates is not None:
        return variables
    secret = {"secretKeyRef": {"name": placement.secret_name(role), "key": "token"}}
    return [*variables, {"name": _TOKEN_VARIABLE, "valueFrom": secret}]


def _resources(job: JobDescription, role: str) -> Manifest:
    needed = job.role(role)
    requests: Manifest = {}
    limits: Manifest = {}
    if needed.cpus is not None:
        requests["cpu"] = f"{needed.cpus:g}"
    if needed.memory is not None:
        requests["memory"] = limits["memory"] = needed.memory
    if needed.gpus:
        limits["nvidia.com/gpu"] = str(needed.gpus)
    return {name: each for name, each in (("requests", requests), ("limits", limits)) if each}


def _probes(placement: Placement) -> Manifest:
    # One object in three places would be an anchor and its aliases in YAML.
    def probe(**when: int) -> Manifest:
        return {"grpc": {"port": placement.health_port}, **when}

    return {
        # Importing and compiling come before serving.
        "startupProbe": probe(periodSeconds=5, failureThreshold=120),
        "readinessProbe": probe(periodSeconds=5),
        "livenessProbe": probe(periodSeconds=20, timeoutSeconds=10, failureThreshold=6),
    }
