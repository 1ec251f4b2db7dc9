"""tf.contrib.summary: summaries that are written by operations of their own. This module only re-exports."""

from __future__ import annotations

from weft.training.contributed.recorded_summaries import all_summary_ops as all_summary_ops
from weft.training.contributed.recorded_summaries import always_record_summaries as always_record_summaries
from weft.training.contributed.recorded_summaries import audio as audio
from weft.training.contributed.recorded_summaries import eval_dir as eval_dir
from weft.training.contributed.recorded_summaries import flush as flush
from weft.training.contributed.recorded_summaries import generic as generic
from weft.training.contributed.recorded_summaries import graph as graph
from weft.training.contributed.recorded_summaries import histogram as histogram
from weft.training.contributed.recorded_summaries import image as image
from weft.training.contributed.recorded_summaries import import_event as import_event
from weft.training.contributed.recorded_summaries import initialize as initialize
from weft.training.contributed.recorded_summaries import never_record_summaries as never_record_summaries
from weft.training.contributed.recorded_summaries import (
    record_summaries_every_n_global_steps as record_summaries_every_n_global_steps,
)
from weft.training.contributed.recorded_summaries import scalar as scalar
from weft.training.contributed.recorded_summaries import should_record_summaries as should_record_summaries
from weft.training.contributed.recorded_summaries import summary_writer_initializer_op as summary_writer_initializer_op
from weft.training.contributed.summary_writers import SummaryWriter as SummaryWriter
from weft.training.contributed.summary_writers import create_db_writer as create_db_writer
from weft.training.contributed.summary_writers import create_file_writer as create_file_writer

# Under a name of its own: type checkers take a renamed import for the module's private business.
create_summary_file_writer = create_file_writer
