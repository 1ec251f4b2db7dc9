"""tf.contrib.testing: checks of event files, and a writer that keeps what it is given. This module only re-exports."""

from __future__ import annotations

from weft.testing.event_checks import assert_summary as assert_summary
from weft.testing.event_checks import latest_event_file as latest_event_file
from weft.testing.event_checks import latest_events as latest_events
from weft.testing.event_checks import latest_summaries as latest_summaries
from weft.testing.event_checks import simple_values_from_events as simple_values_from_events
from weft.testing.event_checks import to_summary_proto as to_summary_proto
from weft.testing.fake_summary_writer import FakeSummaryWriter as FakeSummaryWriter
