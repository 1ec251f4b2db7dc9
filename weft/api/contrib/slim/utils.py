"""tf.contrib.slim.utils: what layers of programs' own use. This module only re-exports."""

from __future__ import annotations

from weft.models.functional.layer_outputs import append_tensor_alias as append_tensor_alias
from weft.models.functional.layer_outputs import collect_named_outputs as collect_named_outputs
from weft.models.functional.layer_outputs import convert_collection_to_dict as convert_collection_to_dict
from weft.models.functional.layer_outputs import gather_tensors_aliases as gather_tensors_aliases
from weft.models.functional.layer_outputs import get_tensor_aliases as get_tensor_aliases
from weft.models.functional.static_choices import channel_dimension as channel_dimension
from weft.models.functional.static_choices import constant_value as constant_value
from weft.models.functional.static_choices import get_variable_collections as get_variable_collections
from weft.models.functional.static_choices import last_dimension as last_dimension
from weft.models.functional.static_choices import n_positive_integers as n_positive_integers
from weft.models.functional.static_choices import smart_cond as smart_cond
from weft.models.functional.static_choices import static_cond as static_cond
from weft.models.functional.static_choices import two_element_tuple as two_element_tuple
