"""What tests read from event files: the newest file of a directory, its events, summaries and scalars."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping, Sequence

from tensorboard.compat.proto import event_pb2, summary_pb2

from weft.events.summary_iterator import summary_iterator


def to_summary_proto(summary_str: bytes) -> summary_pb2.Summary:
    """The Summary that a step gave as bytes.

    Args:
        summary_str: its bytes.
    """
    return summary_pb2.Summary.FromString(summary_str)


def assert_summary(
    expected_tags: Sequence[str], expected_simple_values: Mapping[str, float], summary_proto: summary_pb2.Summary
) -> None:
    """Check the tags and scalars of a summary.

    Args:
        expected_tags: all its tags.
        expected_simple_values: the scalars of some tags.
        summary_proto: the Summary.

    Raises:
        ValueError: it has other tags, or another scalar.
    """
    found = {value.tag: value for value in summary_proto.value}
    if set(expected_tags) != set(found):
        raise ValueError(f"Expected tags {sorted(expected_tags)}, got {sorted(found)}.")
    for tag, expected in expected_simple_values.items():
        if found[tag].simple_value != expected:
            raise ValueError(f"Expected {expected} of {tag!r}, got {found[tag].simple_value}.")


def latest_event_file(base_dir: str) -> str | None:
    """The newest event file of a directory, None when there is none.

    Args:
        base_dir: the directory.
    """
    files = glob.glob(os.path.join(glob.escape(base_dir), "events.*"))
    return max(files, key=os.path.getctime) if files else None


def latest_events(base_dir: str) -> list[event_pb2.Event]:
    """The events of the newest event file; empty when there is none.

    Args:
        base_dir: the file's directory.
    """
    path = latest_event_file(base_dir)
    return [] if path is None else list(summary_iterator(path))


def latest_summaries(base_dir: str) -> list[event_pb2.Event]:
    """The events of the newest event file that hold summaries.

    Args:
        base_dir: the file's directory.
    """
    return [event for event in latest_events(base_dir) if event.HasField("summary")]


def simple_values_from_events(events: Iterable[event_pb2.Event], tags: Sequence[str]) -> dict[str, float]:
    """The scalars of some tags, the last one of each.

    Args:
        events: the events.
        tags: the tags.

    Raises:
        ValueError: what one of these tags has is no scalar.
    """
    found = {}
    for event in events:
        for value in event.summary.value:
            if value.tag in tags:
                if not value.HasField("simple_value"):
                    raise ValueError(f"Summary for {value.tag} is not a simple_value.")
                found[value.tag] = value.simple_value
    return found
