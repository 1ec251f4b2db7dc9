"""Validation of whatever the passes make while a block runs, as a test's fixture has it."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from weft.framework.nodes.operation import Operation, Tensor
from weft.passes import partition as partition_pass
from weft.passes import settled_fetches as settled_pass
from weft.passes.partition import Partition
from weft.passes.stage import Staging
from weft.passes.validate import validate_partition, validate_partitions, validate_staging


class CheckedStaging(Staging):
    """A Staging that validates itself when it is made."""

    def __init__(
        self,
        ops: Sequence[Operation],
        placement: Mapping[Operation, str],
        feeds: Iterable[Tensor],
        fetches: Iterable[Tensor] = (),
    ) -> None:
        feeds = list(feeds)
        super().__init__(ops, placement, feeds, fetches)
        validate_staging(self, ops, placement, feeds)


def _checked_partition(
    ops: Sequence[Operation],
    placement: Mapping[Operation, str],
    staging: Staging,
    feeds: Sequence[Tensor],
    fetches: Sequence[Tensor],
) -> dict[str, Partition]:
    parts = _PARTITION(ops, placement, staging, feeds, fetches)
    validate_partitions(parts, ops, placement, feeds, fetches)
    return parts


def _checked_settled_fetches(part: Partition) -> dict[Tensor, list[Operation]]:
    part.settled = _SETTLED_FETCHES(part)
    validate_partition(part)
    return part.settled


_PARTITION: Final = partition_pass.partition
_SETTLED_FETCHES: Final = settled_pass.settled_fetches
_CHECKED: Final[tuple[tuple[Callable[..., object], Callable[..., object]], ...]] = (
    (Staging, CheckedStaging),
    (_PARTITION, functools.wraps(_PARTITION)(_checked_partition)),
    (_SETTLED_FETCHES, functools.wraps(_SETTLED_FETCHES)(_checked_settled_fetches)),
)


@contextlib.contextmanager
def checked_passes() -> Iterator[None]:
    """Put passes that validate their results in the place of the passes, wherever a loaded module has these.

    Raises:
        InternalError: in the block, where a pass is called whose result breaks a rule.
    """
    replaced: list[tuple[dict[str, object], str, object]] = []
    for name, module in list(sys.modules.items()):
        if name == __name__:
            continue
        for plain, checked in _CHECKED:
            names = vars(module) if module is not None else {}
            if names.get(plain.__name__) is plain:
                replaced.append((names, plain.__name__, plain))
                names[plain.__name__] = checked
    try:
        yield
    finally:
        for names, key, original in replaced:
            names[key] = original
