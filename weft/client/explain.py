"""explain: why a run is as fast as it is."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Final

from weft.client.session import BaseSession, get_default_session
from weft.client.stage_table import StageTable
from weft.framework.nodes.operation import Tensor
from weft.runtime.choice.stage_report import COMPILING

_LOOK_S: Final = 0.01


def explain(
    fetches: object,
    feeds: Mapping[Tensor, object] | Sequence[Tensor] | None = None,
    session: BaseSession | None = None,
    wait_s: float = 0.0,
) -> StageTable:
    """Tell which way each stage of a run goes, on the host or compiled by XLA, why, how often it ran, and what that took.

    A run is cut into stages, each of which is a host program or compiled. This answers why a stage is not compiled, and where
    the time went. It runs nothing: what it tells is about the runs of this session so far with the same fetches and feeds.
    Tasks elsewhere are asked too.

        print(weft.explain(train_op, feed_dict))

    Args:
        fetches: what the run fetches, as for `Session.run`.
        feeds: what it feeds: a feed_dict, or a list of the tensors; the values do not matter.
        session: the session; the default one when None.
        wait_s: how long to wait at most, in seconds, until no stage is being compiled any more.

    Returns:
        A table that prints well, and whose rows are named tuples.

    Raises:
        ValueError: there is no default session.
    """
    asked = session if session is not None else get_default_session()
    if asked is None:
        raise ValueError("weft.explain needs a session: pass `session=`, or call it inside of `with weft.Session()`.")
    deadline_s = time.monotonic() + wait_s
    while True:
        table: StageTable = asked.explain(fetches, feeds)
        if time.monotonic() >= deadline_s or all(row.way != COMPILING for row in table):
            return table
        time.sleep(_LOOK_S)
