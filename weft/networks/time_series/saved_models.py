"""Predictions and states of a model of series that was exported and loaded."""

from __future__ import annotations

from collections.abc import Mapping

from weft.client.session import Session
from weft.framework.building.aliases import Feeds, Nest
from weft.networks.time_series.feature_keys import (
    FilteringFeatures,
    FilteringResults,
    PredictionFeatures,
    PredictionResults,
    SavedModelLabels,
)
from weft.networks.time_series.head import state_to_dictionary
from weft.networks.time_series.input_functions import times_after
from weft.networks.time_series.readers import canonical_arrays
from weft.proto.messages import MetaGraphDef


def predict_continuation(
    continue_from: Mapping[str, Nest], signatures: MetaGraphDef, session: Session, steps: int | None = None, times: Nest = None,
    exogenous_features: Mapping[str, Nest] | None = None,
) -> dict[str, Nest]:  # fmt: skip
    """Predictions of what comes after an evaluation or a filter.

    Args:
        continue_from: what `evaluate`, `cold_start_filter` or `filter_continuation` has returned.
        signatures: what `tf.saved_model.loader.load` has returned.
        session: the session into which it was loaded.
        steps: how many times to predict.
        times: the times to predict instead, `[batch, window]` or `[window]`.
        exogenous_features: exogenous features of these times by name.

    Returns:
        Predictions by name, and the times.

    Raises:
        ValueError: both of `steps` and `times` are given, or neither, or the times do not come after.
    """
    wanted = times_after(continue_from, steps, times)
    given = {PredictionFeatures.TIMES: wanted, **(exogenous_features or {})}
    found = _run(signatures, SavedModelLabels.PREDICT, session, given, continue_from)
    found[PredictionResults.TIMES] = wanted
    return found


def cold_start_filter(signatures: MetaGraphDef, session: Session, features: Mapping[str, Nest]) -> dict[str, Nest]:
    """The state of a model that has seen some values, from its start state on.

    Args:
        signatures: what `tf.saved_model.loader.load` has returned.
        session: the session into which it was loaded.
        features: times, values and exogenous features: of one time, `[times, ...]` or `[batch, times, ...]`.

    Returns:
        The state by the names of its parts, and the times.
    """
    return _filtered(signatures, SavedModelLabels.COLD_START_FILTER, session, features, None)


def filter_continuation(
    continue_from: Mapping[str, Nest], signatures: MetaGraphDef, session: Session, features: Mapping[str, Nest]
) -> dict[str, Nest]:
    """The state of a model that has seen some more values.

    Args:
        continue_from: what `evaluate`, `cold_start_filter` or this function has returned.
        signatures: what `tf.saved_model.loader.load` has returned.
        session: the session into which it was loaded.
        features: times, values and exogenous features: of one time, `[times, ...]` or `[batch, times, ...]`.

    Returns:
        The state by the names of its parts, and the times.
    """
    return _filtered(signatures, SavedModelLabels.FILTER, session, features, continue_from)


def _filtered(
    signatures: MetaGraphDef, name: str, session: Session, features: Mapping[str, Nest], previous: Mapping[str, Nest] | None
) -> dict[str, Nest]:
    """The state by a signature that filters, and the times that it has seen."""
    given = canonical_arrays(features, require_single_batch=False)
    found = _run(signatures, name, session, given, previous)
    found[FilteringResults.TIMES] = given[FilteringFeatures.TIMES]
    return found


def _run(
    signatures: MetaGraphDef, name: str, session: Session, features: Mapping[str, Nest], previous: Mapping[str, Nest] | None
) -> dict[str, Nest]:
    """Run a signature on features and the state of what came before."""
    signature = signatures.signature_def[name]
    state = previous or {}
    if FilteringResults.STATE_TUPLE in state:
        state = state_to_dictionary(state[FilteringResults.STATE_TUPLE])
    # What a filter gives has the times that it has seen beside the state.
    given = {**{key: value for key, value in state.items() if key != FilteringResults.TIMES}, **features}
    feeds: Feeds = {session.graph.as_graph_element(signature.inputs[key].name): value for key, value in given.items()}
    fetches = {key: session.graph.as_graph_element(value.name) for key, value in signature.outputs.items()}
    found: dict[str, Nest] = session.run(fetches, feed_dict=feeds)
    return found
