"""tf.config.threading: how many threads work. This module only re-exports."""

from __future__ import annotations

from weft.client.process_settings import get_inter_op_parallelism_threads as get_inter_op_parallelism_threads
from weft.client.process_settings import get_intra_op_parallelism_threads as get_intra_op_parallelism_threads
from weft.client.process_settings import set_inter_op_parallelism_threads as set_inter_op_parallelism_threads
from weft.client.process_settings import set_intra_op_parallelism_threads as set_intra_op_parallelism_threads
