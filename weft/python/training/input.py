"""tensorflow.python.training.input, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.train.input.batching import batch as batch
from weft.train.input.batching import batch_join as batch_join
from weft.train.input.batching import maybe_batch as maybe_batch
from weft.train.input.batching import maybe_batch_join as maybe_batch_join
from weft.train.input.batching import maybe_shuffle_batch as maybe_shuffle_batch
from weft.train.input.batching import maybe_shuffle_batch_join as maybe_shuffle_batch_join
from weft.train.input.batching import shuffle_batch as shuffle_batch
from weft.train.input.batching import shuffle_batch_join as shuffle_batch_join
from weft.train.input.input_producers import input_producer as input_producer
from weft.train.input.input_producers import limit_epochs as limit_epochs
from weft.train.input.input_producers import match_filenames_once as match_filenames_once
from weft.train.input.input_producers import range_input_producer as range_input_producer
from weft.train.input.input_producers import slice_input_producer as slice_input_producer
from weft.train.input.input_producers import string_input_producer as string_input_producer
