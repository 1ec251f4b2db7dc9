"""Each public method of a public class says what it does, and tells its arguments, its result and the errors that it raises.

A method that stands for one of a base class need not tell again what that tells.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from tests.docs.test_docstrings import described, public_objects
from tests.docs.test_told import _raised, _tells_what_is_returned, _untold_arguments

# Methods of these classes that only weft's own code calls.
_INNER = frozenset(("leave", "limit", "made_by", "restart"))


def _methods(found: type) -> Iterator[tuple[type, str, object]]:
    for base in found.__mro__:
        if base.__module__.startswith("weft.") and not base.__module__.startswith("weft.proto."):
            for name, member in vars(base).items():
                function = inspect.unwrap(getattr(member, "__func__", member))
                if not name.startswith("_") and name not in _INNER and inspect.isfunction(function):
                    yield base, name, function


def _told_above(base: type, name: str) -> set[str]:
    """The arguments that methods of this name tell in the bases."""
    above = (getattr(vars(each)[name], "__func__", vars(each)[name]) for each in base.__mro__[1:] if name in vars(each))
    return {argument for function in above for argument in described(inspect.getdoc(function) or "")}


def _lacks(base: type, name: str, function: object) -> list[str]:
    doc = inspect.getdoc(function) or ""
    above = _told_above(base, name)
    untold = [each for each in _untold_arguments(function, doc) if each not in above]
    errors = {f"Raises {each}" for each in _raised(function) if each not in doc and each != "NotImplementedError"}
    if any(name in vars(each) for each in base.__mro__[1:]):
        return untold
    return [*untold, *([] if _tells_what_is_returned(function, doc) else ["Returns"]), *sorted(errors)]


def test_every_public_method_tells_what_it_does_its_arguments_its_result_and_its_errors() -> None:
    silent, lacking, seen = set(), {}, set()
    for _, found, _ in public_objects():
        for base, name, function in _methods(found) if inspect.isclass(found) else ():
            key = f"{base.__module__} {base.__qualname__}.{name}"
            if key in seen:
                continue
            seen.add(key)
            if not inspect.getdoc(getattr(base, name)):
                silent.add(key)
            elif lacks := _lacks(base, name, function):
                lacking[key] = lacks
    assert silent == set()
    assert lacking == {}


def test_the_counter_sees_what_a_method_leaves_out() -> None:
    class Scale:
        def apply(self, x: float) -> float:
            """Scale it.

            Args:
                x: [] float32.
            """
            return x

    class Double(Scale):
        def apply(self, x: float) -> float:
            """Double it."""
            return x * 2

    assert _lacks(Scale, "apply", Scale.apply) == ["Returns"]
    assert _lacks(Double, "apply", Double.apply) == []
