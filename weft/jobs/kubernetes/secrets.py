"""What a job's pods know each other by: the cluster's token, or a certificate for each task, as Secrets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from weft.jobs.description import JobDescription, JobError
from weft.jobs.kubernetes.pods import AUTHORITY_FILE, Manifest, Placement

_MOST_BYTES: Final = 1_000_000
_CLIENT_FILE: Final = "client.pem"


def secrets(job: JobDescription, placement: Placement) -> list[Manifest]:
    """One Secret with the token, or one for each role with its certificates, which no pod of another role can read.

    Raises:
        JobError: a task has no certificate, or they are more than a Secret holds.
    """
    issued = placement.certificates
    if issued is None:
        return [_secret(placement, placement.name, None, {"token": placement.token})]
    _check_complete(job, issued)
    return [_secret(placement, placement.secret_name(role), role, _of_role(job, role, issued)) for role in job.counts]


def needed_files(job: JobDescription) -> list[str]:
    """The files of certificates that the tasks of a job need, as `weft credentials` writes them."""
    members = [f"{role}-{index}.pem" for role, count in job.counts.items() if role != "evaluator" for index in range(count)]
    # An evaluator is no member of the cluster, but may be a client of it.
    return [AUTHORITY_FILE, *members, *([_CLIENT_FILE] if "evaluator" in job.counts else [])]


def _check_complete(job: JobDescription, certificates: Mapping[str, str]) -> None:
    if AUTHORITY_FILE not in certificates:
        raise JobError(f"--credentials: there is no {AUTHORITY_FILE}: weft credentials authority FOLDER")
    lacking = [name.removesuffix(".pem") for name in needed_files(job) if name not in certificates]
    if lacking:
        raise JobError(f"--credentials: certificates are missing: weft credentials issue FOLDER {' '.join(lacking)}")


def _of_role(job: JobDescription, role: str, certificates: Mapping[str, str]) -> dict[str, str]:
    own = [_CLIENT_FILE] if role == "evaluator" else [f"{role}-{index}.pem" for index in range(job.counts[role])]
    found = {name: certificates[name] for name in (AUTHORITY_FILE, *own)}
    if sum(map(len, found.values())) > _MOST_BYTES:
        raise JobError(f"--credentials: the certificates of {len(own)} tasks are more than a Secret holds; use a token")
    return found


def _secret(placement: Placement, name: str, role: str | None, content: dict[str, str]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": placement.metadata(name, role),
        "type": "Opaque",
        "stringData": content,
    }
