"""JobSet and TFJob as their operators define them: the fields of their own, as schemas that an API server takes.

The fields are those of `jobset.x-k8s.io/v1alpha2` (github.com/kubernetes-sigs/jobset, config/components/crd) and of
`kubeflow.org/v1` (github.com/kubeflow/training-operator, manifests/base/crds). What is Kubernetes' own inside them, the
templates of jobs and pods, is left open: `kubernetes_validate` has the schemas of these.
"""

from __future__ import annotations

from typing import Any, Final

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_SWITCH: Final[Schema] = {"type": "boolean"}
_NUMBER: Final[Schema] = {"type": "integer", "format": "int32"}
_INTEGER: Final[Schema] = {"type": "integer"}
_LONG: Final[Schema] = {"type": "integer", "format": "int64"}
_OPEN: Final[Schema] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _of(*required: str, **fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, **({"required": list(required)} if required else {})}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _one_of(*words: str) -> Schema:
    return {"type": "string", "enum": list(words)}


_FAILURE_RULE: Final = _of(
    "action",
    "name",
    action=_one_of(
        "FailJobSet", "RestartJobSet", "RestartJobSetAndIgnoreMaxRestarts", "RestartJob", "RestartJobAndIgnoreMaxRestarts"
    ),
    name=_TEXT,
    onJobFailureMessagePatterns=_list(_TEXT),
    onJobFailureReasons=_list(_TEXT),
    targetReplicatedJobs=_list(_TEXT),
)
JOB_SET: Final = _of(
    coordinator=_of("replicatedJob", jobIndex=_INTEGER, podIndex=_INTEGER, replicatedJob=_TEXT),
    failurePolicy=_of(
        maxRestarts=_NUMBER,
        restartStrategy=_one_of("Recreate", "BlockingRecreate", "InPlaceRestart"),
        rules=_list(_FAILURE_RULE),
    ),
    managedBy=_TEXT,
    network=_of(enableDNSHostnames=_SWITCH, publishNotReadyAddresses=_SWITCH, subdomain=_TEXT),
    replicatedJobs=_list(
        _of(
            "name",
            "template",
            dependsOn={**_list(_of("name", "status", name=_TEXT, status=_one_of("Ready", "Complete"))), "maxItems": 5},
            groupName=_TEXT,
            name=_TEXT,
            replicas=_NUMBER,
            template=_of(metadata=_OPEN, spec=_OPEN),
        )
    ),
    startupPolicy=_of("startupPolicyOrder", startupPolicyOrder=_one_of("AnyOrder", "InOrder")),
    successPolicy=_of("operator", operator=_one_of("All", "Any"), targetReplicatedJobs=_list(_TEXT)),
    suspend=_SWITCH,
    ttlSecondsAfterFinished={**_NUMBER, "minimum": 0},
    volumeClaimPolicies=_list(_of(retentionPolicy=_of(whenDeleted=_one_of("Delete", "Retain")), templates=_list(_OPEN))),
)
"""The `spec` of a JobSet."""

TF_JOB: Final = _of(
    "tfReplicaSpecs",
    enableDynamicWorker=_SWITCH,
    runPolicy=_of(
        activeDeadlineSeconds=_LONG,
        backoffLimit=_NUMBER,
        # The schema says no more than text; these are the words that the operator compares with.
        cleanPodPolicy=_one_of("", "All", "Running", "None"),
        managedBy=_TEXT,
        schedulingPolicy=_of(
            minAvailable=_NUMBER,
            minResources=_OPEN,
            priorityClass=_TEXT,
            queue=_TEXT,
            scheduleTimeoutSeconds=_NUMBER,
        ),
        suspend=_SWITCH,
        ttlSecondsAfterFinished=_NUMBER,
    ),
    successPolicy=_one_of("", "AllWorkers"),
    tfReplicaSpecs={
        "type": "object",
        "additionalProperties": _of(
            replicas=_NUMBER,
            restartPolicy=_one_of("Always", "OnFailure", "Never", "ExitCode"),
            template=_of(metadata=_OPEN, spec=_OPEN),
        ),
    },
)
"""The `spec` of a TFJob."""

REPLICA_TYPES: Final = {"Chief", "Master", "PS", "Worker", "Evaluator"}
"""The replicas that the operator of TFJobs knows, which no schema says."""


def definition(kind: str) -> Schema:
    """The CustomResourceDefinition of "JobSet" or "TFJob", as it is given to an API server."""
    group, version, spec = {"JobSet": ("jobset.x-k8s.io", "v1alpha2", JOB_SET), "TFJob": ("kubeflow.org", "v1", TF_JOB)}[kind]
    name = kind.lower()
    served = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": _of(spec=spec, status=_OPEN)}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{name}s.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": kind, "listKind": f"{kind}List", "plural": f"{name}s", "singular": name},
            "scope": "Namespaced",
            "versions": [served],
        },
    }


def closed(schema: Schema) -> Schema:
    """The schema that refuses fields which it does not name, as `kubectl --validate=strict` does."""
    if "properties" in schema:
        return {**schema, "properties": {k: closed(v) for k, v in schema["properties"].items()}, "additionalProperties": False}
    return {key: closed(inner) if key in ("items", "additionalProperties") else inner for key, inner in schema.items()}
