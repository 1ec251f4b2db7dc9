"""A pod's certificate: Kubernetes mounts all of a role's, readable by a group; the task's own goes where only it can read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from weft.credentials.cluster_token import write_secret
from weft.credentials.credentials import AUTHORITY_FILE, FOLDER_VARIABLE
from weft.jobs.description import JobError
from weft.jobs.kubernetes.pods import ISSUED_VARIABLE


def own_credentials(environment: Mapping[str, str], role: str, index: int) -> dict[str, str]:
    """The variables by which a task finds its certificate; none where no folder of issued ones is named.

    Raises:
        JobError: the folder has none for this task.
    """
    issued = environment.get(ISSUED_VARIABLE)
    if not issued:
        return {}
    names = (AUTHORITY_FILE, "client.pem" if role == "evaluator" else f"{role}-{index}.pem")
    try:
        contents = {name: Path(issued, name).read_bytes() for name in names}
    except OSError as error:
        raise JobError(f"{ISSUED_VARIABLE}: the certificate of {role}:{index} cannot be read: {error}") from None
    folder = tempfile.mkdtemp(prefix="weft-credentials-")
    for name, content in contents.items():
        write_secret(Path(folder, name), content)
    return {FOLDER_VARIABLE: os.fspath(folder)}
