"""PartialRun: one step that a client runs piece by piece, feeding what it learnt from the pieces before.

Every operation of the step runs once, in the first piece that needs it. What later pieces need of it is kept here and fed to
them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from weft.distributed.master.steps.step_plan import StepPlan
from weft.errors import InvalidArgumentError
from weft.framework.nodes.operation import Operation, Tensor
from weft.passes.prune import prune
from weft.passes.stage import FREE_ROLES

Prepare = Callable[[Sequence[Tensor], Sequence[Tensor], Sequence[Operation], Collection[Operation]], StepPlan]


class PartialRun:
    """A step in pieces; made by MasterSession. Its pieces run one after the other, from any thread.

    Args:
        prepare: makes the plan of a piece from its feeds, fetches, targets and the operations that have run already.
        feeds, fetches, targets: what the pieces together may feed, fetch and run.
    """

    def __init__(
        self, prepare: Prepare, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> None:
        self._prepare = prepare
        self._unfed = dict.fromkeys(feeds)
        self._unfetched = dict.fromkeys(fetches)
        self._feeds = frozenset(feeds)
        self._fetches = frozenset(fetches)
        self._waiting = dict.fromkeys(prune(fetches, feeds, targets))
        self._targets = list(targets)
        self._values: dict[Tensor, Any] = {}
        self._done: set[Operation] = set()
        self._lock = threading.Lock()

    @property
    def is_over(self) -> bool:
        """Whether everything has been fed and fetched."""
        return not self._unfed and not self._unfetched

    def run(self, feeds: Mapping[Tensor, object], fetches: Sequence[Tensor]) -> list[Any]:
        """Run what these fetches need and has not run, and return their values.

        Raises:
            InvalidArgumentError: a feed or fetch was not announced, was used before, or needs what is not fed yet.
            OpError: the piece failed.
        """
        with self._lock:
            if self.is_over:
                raise unknown_handle()
            self._check(feeds, fetches)
            self._values.update(feeds)
            for tensor in feeds:
                del self._unfed[tensor]
            for tensor in fetches:
                if not self._can_run([tensor.op] if tensor not in self._values else []):
                    raise _invalid(f"Fetch {tensor.name} can't be computed from the feeds that have been fed so far.")
            self._execute(fetches)
            for tensor in fetches:
                self._unfetched.pop(tensor, None)
            return [self._values[tensor] for tensor in fetches]

    def _check(self, feeds: Iterable[Tensor], fetches: Iterable[Tensor]) -> None:
        for what, done, tensors, announced, left in (
            ("feed", "fed", feeds, self._feeds, self._unfed),
            ("fetch", "fetched", fetches, self._fetches, self._unfetched),
        ):
            for tensor in tensors:
                if tensor not in announced:
                    raise _invalid(f"The {what} {tensor.name} was not specified in partial_run_setup.")
                if tensor not in left:
                    raise _invalid(f"The {what} {tensor.name} has already been {done}.")

    def _can_run(self, ops: Iterable[Operation]) -> bool:
        """Whether these operations and all that they wait for need no feed that is still to come."""
        stack, seen = list(ops), set(self._done)
        while stack:
            op = stack.pop()
            if op in seen:
                continue
            seen.add(op)
            inputs = [tensor for tensor in op.inputs if tensor not in self._values]
            if any(tensor in self._unfed for tensor in inputs):
                return False
            stack.extend(tensor.op for tensor in inputs)
            stack.extend(op.control_inputs)
        return True

    def _execute(self, fetches: Sequence[Tensor]) -> None:
        targets = [op for op in self._targets if op not in self._done and self._can_run([op])]
        wanted = [tensor for tensor in dict.fromkeys(fetches) if tensor not in self._values]
        ops = prune(wanted, self._values, targets, self._done)
        if not ops:
            return
        for op in ops:
            self._waiting.pop(op, None)
        later = {tensor for op in self._waiting for tensor in op.inputs} | self._unfetched.keys()
        running = [op for op in ops if op.op_def.role not in FREE_ROLES]
        wanted += [t for op in running for t in op.outputs if t in later and t not in self._values and t not in wanted]
        used = {tensor for op in ops for tensor in op.inputs}
        fed = [tensor for tensor in self._values if tensor in used]
        plan = self._prepare(fed, wanted, targets, self._done)
        values, _ = plan.run([self._values[tensor] for tensor in fed])
        self._values.update(zip(wanted, values, strict=True))
        self._done.update(running)


def unknown_handle() -> InvalidArgumentError:
    """The error for a partial run that was never set up or is over."""
    return _invalid("Must run 'setup' before performing partial runs! The handle is unknown, or its run is over")


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError.of(message)
