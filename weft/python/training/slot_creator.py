"""tensorflow.python.training.slot_creator, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.train.optimizers.slot_creator import create_slot as create_slot
from weft.train.optimizers.slot_creator import create_slot_with_initializer as create_slot_with_initializer
from weft.train.optimizers.slot_creator import create_zeros_slot as create_zeros_slot
