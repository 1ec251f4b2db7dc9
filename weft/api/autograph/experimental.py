"""tf.autograph.experimental: options of translations. This module only re-exports."""

from __future__ import annotations

from weft.translation.convert import do_not_convert as do_not_convert
from weft.translation.options import Feature as Feature
from weft.translation.options import set_loop_options as set_loop_options
