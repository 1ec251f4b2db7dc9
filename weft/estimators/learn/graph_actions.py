"""run_n, run_feeds and infer: values of the default graph, from a session that they start and close."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping

from weft.client.session import Session
from weft.framework.building.aliases import Nest
from weft.framework.graphs.collections import GraphKeys
from weft.ops.lookup.tables import tables_initializer
from weft.ops.variables.collections import global_variables_initializer, local_variables_initializer
from weft.training.coordinator import Coordinator
from weft.training.queue_runner import start_queue_runners
from weft.training.saving.saver import Saver

_Feeds = Mapping[Nest, Nest]
_Values = dict[str, Nest]


def run_feeds_iter(
    output_dict: Mapping[str, Nest], feed_dicts: Iterable[_Feeds | None], restore_checkpoint_path: str | None = None
) -> Iterator[_Values]:
    """The values of tensors for each of several feeds, one after the other.

    Args:
        output_dict: tensors by name.
        feed_dicts: what to feed in each run.
        restore_checkpoint_path: a checkpoint with the variables' values; they are initialized when None.

    Yields:
        The values of a run by name.

    Raises:
        ValueError: there are no tensors, or no feeds.
    """
    if not output_dict:
        raise ValueError(f"output_dict is invalid: {output_dict}.")
    if not feed_dicts:
        raise ValueError(f"feed_dicts is invalid: {feed_dicts}.")
    graph = next(iter(output_dict.values())).graph
    with graph.as_default(), Session() as session:
        _initialize(session, restore_checkpoint_path)
        coordinator = Coordinator()
        has_queues = bool(graph.get_collection(GraphKeys.QUEUE_RUNNERS))
        threads = start_queue_runners(session, coordinator) if has_queues else []
        try:
            for feeds in feed_dicts:
                yield session.run(dict(output_dict), feeds)
        finally:
            coordinator.request_stop()
            coordinator.join(threads, stop_grace_period_secs=120)


def _initialize(session: Session, checkpoint: str | None) -> None:
    session.run(global_variables_initializer())
    if checkpoint:
        Saver().restore(session, checkpoint)
    session.run([local_variables_initializer(), tables_initializer()])


def run_feeds(
    output_dict: Mapping[str, Nest], feed_dicts: Iterable[_Feeds | None], restore_checkpoint_path: str | None = None
) -> list[_Values]:
    """The values of tensors for each of several feeds.

    Args:
        output_dict: tensors by name.
        feed_dicts: what to feed in each run.
        restore_checkpoint_path: a checkpoint with the variables' values; they are initialized when None.

    Returns:
        The values of each run by name.

    Raises:
        ValueError: there are no tensors, or no feeds.
    """
    return list(run_feeds_iter(output_dict, feed_dicts, restore_checkpoint_path))


def run_n(
    output_dict: Mapping[str, Nest], feed_dict: _Feeds | None = None, restore_checkpoint_path: str | None = None, n: int = 1
) -> list[_Values]:
    """The values of tensors in several runs.

    Args:
        output_dict: tensors by name.
        feed_dict: what to feed in each run.
        restore_checkpoint_path: a checkpoint with the variables' values; they are initialized when None.
        n: how many runs.

    Returns:
        The values of each run by name.

    Raises:
        ValueError: there are no tensors.
    """
    return run_feeds(output_dict, itertools.repeat(feed_dict, n), restore_checkpoint_path)


def infer(restore_checkpoint_path: str | None, output_dict: Mapping[str, Nest], feed_dict: _Feeds | None = None) -> _Values:
    """The values of tensors with the variables of a checkpoint.

    Args:
        restore_checkpoint_path: the checkpoint; variables are initialized when None.
        output_dict: tensors by name.
        feed_dict: what to feed.

    Returns:
        The values by name.

    Raises:
        ValueError: there are no tensors.
    """
    return run_n(output_dict, feed_dict, restore_checkpoint_path, n=1)[0]
