"""RpcThreads: the threads on which a gRPC server answers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

from weft.runtime.inter_op_pool import InterOpPool

P = ParamSpec("P")
T = TypeVar("T")


class RpcThreads(Executor):
    """As many daemon threads as requests are being answered.

    A limit would let blocked steps keep the request waiting that would wake or end them, and the threads of an ordinary
    pool are joined at the exit of the interpreter, which a blocked step would hold up.
    """

    def __init__(self, name: str) -> None:
        self._pool = InterOpPool(name)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run `fn` on a thread that is idle, or else on a new one."""
        future: Future[T] = Future()
        self._pool.submit(lambda: _settle(future, fn, *args, **kwargs))
        return future


def _settle(future: Future[Any], fn: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(fn(*args, **kwargs))
    except BaseException as error:
        future.set_exception(error)
