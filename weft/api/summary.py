"""tf.summary: summary ops and the writers of event files. This module only re-exports."""

from __future__ import annotations

from weft.events.file_writer import FileWriter as FileWriter
from weft.events.file_writer import FileWriterCache as FileWriterCache
from weft.ops.summary.merge import merge as merge
from weft.ops.summary.merge import merge_all as merge_all
from weft.ops.summary.nodes import audio as audio
from weft.ops.summary.nodes import histogram as histogram
from weft.ops.summary.nodes import image as image
from weft.ops.summary.nodes import scalar as scalar
from weft.ops.summary.nodes import tensor_summary as tensor_summary
from weft.ops.summary.nodes import text as text
from weft.proto.messages import Event as Event
from weft.proto.messages import SessionLog as SessionLog
from weft.proto.messages import Summary as Summary
from weft.proto.messages import SummaryDescription as SummaryDescription
from weft.proto.messages import TaggedRunMetadata as TaggedRunMetadata
from weft.training.contributed.recorded_summaries import all_summary_ops as _all_summary_ops
from weft.training.contributed.recorded_summaries import initialize as initialize

all_v2_summary_ops = _all_summary_ops
