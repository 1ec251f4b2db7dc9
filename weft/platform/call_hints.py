"""The keyword that a call meant: Python names the one that a function does not take, not those that it takes."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from typing import Final

from weft.platform.spelling import did_you_mean

_UNEXPECTED: Final = re.compile(r"(?:(\w+)\.)?(\w+)\(\) got an unexpected keyword argument '(\w+)'")


def hint_for(error: BaseException) -> str:
    """What a function of weft takes, for a call with a keyword that it does not take; empty for any other error."""
    if not isinstance(error, TypeError):
        return ""
    found = _UNEXPECTED.search(str(error))
    if found is None:
        return ""
    owner, name, keyword = found.groups()
    function = _find(owner, name)
    if function is None:
        return ""
    parameters = inspect.signature(function).parameters.values()
    taken = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name != "self"]
    return f"{owner or name} takes {', '.join(taken)}.{did_you_mean(keyword, taken)}"


def _find(owner: str | None, name: str) -> Callable[..., object] | None:
    """The function of that name in weft: public ones are defined once, and the first that is found is the one meant."""
    for module_name, module in list(sys.modules.items()):
        if not module_name.startswith("weft."):
            continue
        found = getattr(module, owner or name, None) if module is not None else None
        function = getattr(found, name, None) if owner and found is not None else found
        if inspect.isfunction(function) and function.__module__.startswith("weft."):
            return function
    return None
