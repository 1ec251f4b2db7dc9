"""tf.contrib.slim.parallel_reader: readers of records side by side. This module only re-exports."""

from __future__ import annotations

from weft.training.input.parallel_reader import ParallelReader as ParallelReader
from weft.training.input.parallel_reader import get_data_files as get_data_files
from weft.training.input.parallel_reader import parallel_read as parallel_read
from weft.training.input.parallel_reader import single_pass_read as single_pass_read
