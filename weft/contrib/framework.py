"""tf.contrib.framework: the global step by its former names. This module only re-exports."""

from __future__ import annotations

from weft.train.training_util import assert_global_step as assert_global_step
from weft.train.training_util import create_global_step as create_global_step
from weft.train.training_util import get_global_step as get_global_step
from weft.train.training_util import get_or_create_global_step as get_or_create_global_step
