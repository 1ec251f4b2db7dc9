"""tf.contrib.framework.nest: nested structures, and structures that reach deeper than others. This module only re-exports."""

from __future__ import annotations

from weft.framework.nested.nest import assert_same_structure as assert_same_structure
from weft.framework.nested.nest import assert_shallow_structure as assert_shallow_structure
from weft.framework.nested.nest import flatten as flatten
from weft.framework.nested.nest import flatten_dict_items as flatten_dict_items
from weft.framework.nested.nest import flatten_up_to as flatten_up_to
from weft.framework.nested.nest import is_nested as is_nested
from weft.framework.nested.nest import map_structure as map_structure
from weft.framework.nested.nest import map_structure_up_to as map_structure_up_to
from weft.framework.nested.nest import pack_sequence_as as pack_sequence_as
from weft.framework.nested.nest_paths import flatten_with_joined_string_paths as flatten_with_joined_string_paths
from weft.framework.nested.nest_paths import flatten_with_tuple_paths as flatten_with_tuple_paths
from weft.framework.nested.nest_paths import flatten_with_tuple_paths_up_to as flatten_with_tuple_paths_up_to
from weft.framework.nested.nest_paths import get_traverse_shallow_structure as get_traverse_shallow_structure
from weft.framework.nested.nest_paths import map_structure_with_paths as map_structure_with_paths
from weft.framework.nested.nest_paths import map_structure_with_tuple_paths as map_structure_with_tuple_paths
from weft.framework.nested.nest_paths import map_structure_with_tuple_paths_up_to as map_structure_with_tuple_paths_up_to
from weft.framework.nested.nest_paths import yield_flat_paths as yield_flat_paths

# Under a name of its own: type checkers take a renamed import for the module's private business.
is_sequence = is_nested
