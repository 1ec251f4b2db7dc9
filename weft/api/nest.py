"""tf.nest: nested structures of lists, tuples, named tuples and dicts."""

from __future__ import annotations

from weft.framework.nested.nest import assert_same_structure as assert_same_structure
from weft.framework.nested.nest import flatten as flatten
from weft.framework.nested.nest import is_nested as is_nested
from weft.framework.nested.nest import map_structure as map_structure
from weft.framework.nested.nest import pack_sequence_as as pack_sequence_as
