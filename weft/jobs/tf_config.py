"""What the environment variable TF_CONFIG says, of the cluster and of this process's place in it."""

from __future__ import annotations

import json
import os
from typing import Final

from weft.framework.building.aliases import Nest

_VARIABLE: Final = "TF_CONFIG"
FORM: Final = (
    'It is such as {"cluster": {"chief": ["host0:2222"], "worker": ["host1:2222"]}, "task": {"type": "worker", "index": 0}}.'
)


def tf_config() -> dict[str, Nest]:
    """What TF_CONFIG says; empty when it is not set.

    Raises:
        ValueError: it is no JSON. TypeError: it, its cluster or its task is no object in braces.
    """
    text = os.environ.get(_VARIABLE) or "{}"
    try:
        found: dict[str, Nest] = json.loads(text)
    except json.JSONDecodeError as error:
        meant = ", as Python's json.dumps(...) writes it: names in double quotes" if "'" in text else ""
        text_said = f"The environment variable {_VARIABLE} is no JSON{meant}: {error.msg}"
        raise json.JSONDecodeError(text_said, error.doc, error.pos) from None
    for name, part in (("", found), *((name, found.get(name)) for name in ("cluster", "task") if isinstance(found, dict))):
        if part is not None and not isinstance(part, dict):
            where = f'"{name}" in {_VARIABLE}' if name else _VARIABLE
            raise TypeError(f"{where} must be an object in braces, not {json.dumps(part)}. {FORM}")
    return found
