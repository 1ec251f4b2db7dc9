"""tf.keras.regularizers: penalties on weights and outputs."""

from __future__ import annotations

from weft.networks.objects.regularizers import L1L2 as L1L2
from weft.networks.objects.regularizers import Regularizer as Regularizer
from weft.networks.objects.regularizers import deserialize as deserialize
from weft.networks.objects.regularizers import get as get
from weft.networks.objects.regularizers import l1 as l1
from weft.networks.objects.regularizers import l1_l2 as l1_l2
from weft.networks.objects.regularizers import l2 as l2
from weft.networks.objects.regularizers import serialize as serialize
