"""Decorators of tensorflow.python.util.tf_export: they note under which public names a function or class is exported."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

F = TypeVar("F", bound=Callable[..., object])
_ATTRIBUTES: Final = {"tensorflow": "_tf_api_names", "estimator": "_estimator_api_names", "keras": "_keras_api_names"}


class api_export:
    """A decorator that notes the public names of a function or class.

    Args:
        args: the names.
        v1: the names in the first version of the API; `args` when None.
        allow_multiple_exports: whether it may have been exported before.
        api_name: whose API it is: `tensorflow`, `estimator` or `keras`.
        overrides: what it takes the place of.
    """

    def __init__(
        self, *args: str, v1: list[str] | None = None, allow_multiple_exports: bool = False, api_name: str = "tensorflow",
        overrides: object = None,
    ) -> None:  # fmt: skip
        self._names = args
        self._first_names = tuple(v1) if v1 is not None else args
        self._attribute = _ATTRIBUTES.get(api_name, _ATTRIBUTES["tensorflow"])

    def __repr__(self) -> str:
        return f"<tf_export {', '.join(self._names)}>"

    def __call__(self, func: F) -> F:
        """Note the names, and give the function back."""
        setattr(func, self._attribute, self._names)
        setattr(func, f"{self._attribute}_v1", self._first_names)
        return func


tf_export: Final = api_export
estimator_export: Final = partial(api_export, api_name="estimator")
keras_export: Final = partial(api_export, api_name="keras")


def kwarg_only(f: F) -> F:
    """A function that takes its arguments by name alone; TypeError for others."""

    def by_name(*args: object, **kwargs: object) -> object:
        if args:
            raise TypeError(f"{f.__name__} only takes keyword args: pass them by name.")
        return f(**kwargs)

    by_name.__name__, by_name.__doc__ = f.__name__, f.__doc__
    return by_name  # type: ignore[return-value]
