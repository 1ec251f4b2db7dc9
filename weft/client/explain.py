"""explain: why a run is as fast as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.client.session import BaseSession, get_default_session
from weft.client.stage_table import StageTable
from weft.framework.operation import Tensor


def explain(
    fetches: object,
    feeds: Mapping[Tensor, object] | Sequence[Tensor] | None = None,
    session: BaseSession | None = None,
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

    Returns:
        A table that prints well, and whose rows are named tuples.

    Raises:
        ValueError: there is no default session.
    """
    asked = session if session is not None else get_default_session()
    if asked is None:
        raise ValueError("weft.explain needs a session: pass `session=`, or call it inside of `with weft.Session()`.")
    table: StageTable = asked.explain(fetches, feeds)
    return table
