"""tf.keras.mixed_precision.experimental: policies of types."""

from __future__ import annotations

from weft.networks.objects.policy import Policy as Policy
from weft.networks.objects.policy import global_policy as global_policy
from weft.networks.objects.policy import set_policy as set_policy
