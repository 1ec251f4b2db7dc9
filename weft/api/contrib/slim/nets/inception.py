"""tf.contrib.slim.nets.inception: Inception networks. This module only re-exports."""

from __future__ import annotations

from weft.models.nets.inception import inception_v1 as inception_v1
from weft.models.nets.inception import inception_v1_arg_scope as inception_v1_arg_scope
from weft.models.nets.inception import inception_v1_base as inception_v1_base
from weft.models.nets.inception import inception_v2 as inception_v2
from weft.models.nets.inception import inception_v2_arg_scope as inception_v2_arg_scope
from weft.models.nets.inception import inception_v2_base as inception_v2_base
from weft.models.nets.inception import inception_v3 as inception_v3
from weft.models.nets.inception import inception_v3_arg_scope as inception_v3_arg_scope
from weft.models.nets.inception import inception_v3_base as inception_v3_base
