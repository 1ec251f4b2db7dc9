"""A job as objects of Kubernetes': Jobs of its own kinds, a JobSet, or Kubeflow's TFJob."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from weft.jobs.description import JobDescription
from weft.jobs.kubernetes.pods import Manifest, Placement, pod_template
from weft.jobs.kubernetes.secrets import secrets

_TFJOB_ROLES: Final = {"ps": "PS", "chief": "Chief", "worker": "Worker", "evaluator": "Evaluator"}


def manifest(job: JobDescription, placement: Placement, kind: str = "jobs") -> list[Manifest]:
    """The objects, in the order in which they are to be made.

    Args:
        job: the job.
        placement: how it runs.
        kind: one of `KINDS`: an Indexed Job for each role, one JobSet, or one TFJob.
    """
    return [*secrets(job, placement), *KINDS[kind](job, placement), _disruption_budget(job, placement)]


def _disruption_budget(job: JobDescription, placement: Placement) -> Manifest:
    """Nodes that are drained take one of the job's pods at a time.

    Said by how many stay: `maxUnavailable` asks the pods' controllers for their scale, which Jobs do not tell, and then no pod
    may be evicted at all.
    """
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": placement.metadata(placement.name),
        "spec": {"minAvailable": sum(job.started.values()) - 1, "selector": {"matchLabels": placement.labels()}},
    }


def _indexed_jobs(job: JobDescription, placement: Placement) -> list[Manifest]:
    service: Manifest = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": placement.metadata(placement.name),
        # Tasks look for each other before any is ready.
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": placement.labels(),
            "ports": [{"name": "grpc", "port": placement.port}],
        },
    }
    cluster = _addresses(job, placement, "{name}-{role}-{index}.{name}:{port}")
    jobs: list[Manifest] = [
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": placement.metadata(f"{placement.name}-{role}", role),
            "spec": _job_spec(job, role, placement, cluster, placement.name),
        }
        for role in job.counts
    ]
    return [service, *jobs]


def _job_set(job: JobDescription, placement: Placement) -> list[Manifest]:
    cluster = _addresses(job, placement, "{name}-{role}-0-{index}.{name}:{port}")
    ending = [role for role in job.counts if role != "ps"] or ["ps"]
    return [
        {
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "metadata": placement.metadata(placement.name),
            "spec": {
                "network": {"enableDNSHostnames": True, "subdomain": placement.name, "publishNotReadyAddresses": True},
                "successPolicy": {"operator": "All", "targetReplicatedJobs": ending},
                "failurePolicy": {"maxRestarts": job.restart.times},
                "replicatedJobs": [
                    {"name": role, "replicas": 1, "template": {"spec": _job_spec(job, role, placement, cluster, None)}}
                    for role in job.counts
                ],
            },
        }
    ]


def _tf_job(job: JobDescription, placement: Placement) -> list[Manifest]:
    policy = "OnFailure" if job.restart.times else "Never"
    replicas = {
        _TFJOB_ROLES[role]: {
            "replicas": job.started[role],
            "restartPolicy": policy,
            # The operator tells the cluster in TF_CONFIG.
            "template": pod_template(job, role, placement, None),
        }
        for role in job.counts
    }
    return [
        {
            "apiVersion": "kubeflow.org/v1",
            "kind": "TFJob",
            "metadata": placement.metadata(placement.name),
            "spec": {
                "runPolicy": {"cleanPodPolicy": "Running", "backoffLimit": job.restart.times * job.task_count},
                "successPolicy": "AllWorkers",
                "tfReplicaSpecs": replicas,
            },
        }
    ]


def _job_spec(
    job: JobDescription, role: str, placement: Placement, cluster: Mapping[str, list[str]], subdomain: str | None
) -> Manifest:
    # The addresses are those of all; `kubectl patch` starts those that come later.
    count = job.started[role]
    # A JobSet has a subdomain of its own.
    more = {} if subdomain is None else {"subdomain": subdomain}
    template = pod_template(job, role, placement, cluster, {"restartPolicy": "Never", **more})
    return {
        "completionMode": "Indexed",
        "completions": count,
        "parallelism": count,
        "backoffLimit": job.restart.times * count,
        # A pod that was preempted, or whose node was drained, comes back without being counted.
        "podFailurePolicy": {
            "rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]
        },
        "template": template,
    }


def _addresses(job: JobDescription, placement: Placement, form: str) -> dict[str, list[str]]:
    return {
        role: [form.format(name=placement.name, role=role, index=index, port=placement.port) for index in range(count)]
        for role, count in job.counts.items()
        if role != "evaluator"
    }


KINDS: Final[Mapping[str, Callable[[JobDescription, Placement], list[Manifest]]]] = {
    "jobs": _indexed_jobs,
    "jobset": _job_set,
    "tfjob": _tf_job,
}
"""What a manifest may be made of, by the word for it."""
