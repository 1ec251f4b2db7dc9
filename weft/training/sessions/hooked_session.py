"""HookedSession: one plain Session with the hooks that are called around its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weft.client.session import Session
from weft.framework.building.aliases import Feeds, Fetches
from weft.framework.building.run_signature import typed_run
from weft.framework.graphs.graph import Graph
from weft.platform.waits.function_wait import watched
from weft.proto.messages import RunMetadata, RunOptions
from weft.training.hooks.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues

_CALLER = "caller"


class HookedSession:
    """Runs with hooks, which were told of the session. Used by one thread at a time.

    Args:
        sess: the plain Session, which this one closes.
        hooks: what to call around each run.
    """

    def __init__(self, sess: Session, hooks: Sequence[SessionRunHook]) -> None:
        self._sess = sess
        # Whose these are is found out once and not in each step.
        self._before_run = [(hook, watched(hook.before_run)) for hook in hooks]
        self._after_run = [(hook, watched(hook.after_run)) for hook in hooks]
        self._stop_requested = False

    @property
    def plain(self) -> Session:
        """The plain Session; runs in it call no hooks."""
        return self._sess

    @property
    def graph(self) -> Graph:
        """The graph that runs."""
        return self._sess.graph

    @property
    def sess_str(self) -> bytes:
        """The target of the plain Session."""
        return self._sess.sess_str

    def should_stop(self) -> bool:
        """Whether a hook asked to stop."""
        return self._stop_requested

    @typed_run
    def run(
        self,
        fetches: Fetches,
        feed_dict: Feeds | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> Any:
        """Run a step with the hooks; RuntimeError when one has asked to stop."""
        if self._stop_requested:
            raise RuntimeError(
                "Run called even after should_stop requested. A hook or a thread has asked for the end: "
                "`while not session.should_stop():` ends a loop there."
            )
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._sess)
        requests = [(hook, before_run(context)) for hook, before_run in self._before_run]
        wanted: dict[object, object] = {_CALLER: fetches}
        try:
            wanted.update((hook, asked.fetches) for hook, asked in requests if asked and asked.fetches is not None)
        except (AttributeError, TypeError):
            _check_requests(requests)
            raise
        feeds = _merged_feeds(feed_dict, requests)
        options = _merged_options(options, requests)
        metadata = RunMetadata() if run_metadata is None else run_metadata
        if options is None and run_metadata is None:
            results = self._sess.run(wanted, feeds)
        else:
            results = self._sess.run(wanted, feeds, options, metadata)
        shown = RunOptions() if options is None else options
        for hook, after_run in self._after_run:
            after_run(context, SessionRunValues(results.get(hook), shown, metadata))
        self._stop_requested = self._stop_requested or context.stop_requested
        return results[_CALLER]

    def close(self) -> None:
        """Close the plain Session."""
        self._sess.close()


_Requests = Sequence[tuple[SessionRunHook, SessionRunArgs | None]]


def _merged_feeds(feed_dict: Feeds | None, requests: _Requests) -> Mapping[Any, Any] | None:
    """One feed_dict of all; RuntimeError when two feed the same tensor."""
    given = [(hook, asked.feed_dict) for hook, asked in requests if asked and asked.feed_dict]
    if not given:
        return feed_dict
    merged = dict(feed_dict or {})
    of_program = set(merged)
    for hook, feeds in given:
        if not isinstance(feeds, Mapping):
            raise TypeError(
                f"{type(hook).__name__} feeds {feeds!r}: the feed_dict of a hook must be a dict of tensors to values, such as "
                "{x: value}."
            )
        for tensor in feeds:
            if tensor in merged:
                other = "the program" if tensor in of_program else "another hook"
                name = getattr(tensor, "name", tensor)
                raise RuntimeError(
                    f"Same tensor is fed by {type(hook).__name__} and by {other}: {name!r}. Only one may feed it: leave it out "
                    f"of run(feed_dict=...), or out of the SessionRunArgs that {type(hook).__name__}.before_run returns."
                )
        merged.update(feeds)
    return merged


def _merged_options(options: RunOptions | None, requests: _Requests) -> Any:
    """RunOptions that satisfy all: the largest of each number, any of each flag; None when nobody gave any."""
    given = [asked.options for _, asked in requests if asked and asked.options is not None]
    if not given:
        return options
    merged = RunOptions()
    for each in [options, *given] if options is not None else given:
        merged.trace_level = max(merged.trace_level, each.trace_level)
        merged.timeout_in_ms = max(merged.timeout_in_ms, each.timeout_in_ms)
        merged.inter_op_thread_pool = max(merged.inter_op_thread_pool, each.inter_op_thread_pool)
        merged.output_partition_graphs |= each.output_partition_graphs
        merged.report_tensor_allocations_upon_oom |= each.report_tensor_allocations_upon_oom
        merged.debug_options.debug_tensor_watch_opts.extend(each.debug_options.debug_tensor_watch_opts)
    return merged


def _check_requests(requests: Sequence[tuple[SessionRunHook, object]]) -> None:
    for hook, asked in requests:
        if asked is not None and not isinstance(asked, SessionRunArgs):
            raise TypeError(
                f"before_run of {type(hook).__name__} must return None or tf.train.SessionRunArgs(fetches), got {asked!r} of "
                f"type {type(asked).__name__!r}."
            ) from None
