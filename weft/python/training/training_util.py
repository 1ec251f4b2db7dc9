"""tensorflow.python.training.training_util, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.train.training_util import assert_global_step as assert_global_step
from weft.train.training_util import create_global_step as create_global_step
from weft.train.training_util import get_global_step as get_global_step
from weft.train.training_util import get_or_create_global_step as get_or_create_global_step
from weft.train.training_util import global_step as global_step
