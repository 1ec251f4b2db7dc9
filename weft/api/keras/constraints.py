"""tf.keras.constraints: projections of weights after updates."""

from __future__ import annotations

from weft.networks.objects.constraints import Constraint as Constraint
from weft.networks.objects.constraints import MaxNorm as MaxNorm
from weft.networks.objects.constraints import MaxNorm as max_norm
from weft.networks.objects.constraints import MinMaxNorm as MinMaxNorm
from weft.networks.objects.constraints import MinMaxNorm as min_max_norm
from weft.networks.objects.constraints import NonNeg as NonNeg
from weft.networks.objects.constraints import NonNeg as non_neg
from weft.networks.objects.constraints import RadialConstraint as RadialConstraint
from weft.networks.objects.constraints import RadialConstraint as radial_constraint
from weft.networks.objects.constraints import UnitNorm as UnitNorm
from weft.networks.objects.constraints import UnitNorm as unit_norm
from weft.networks.objects.constraints import deserialize as deserialize
from weft.networks.objects.constraints import get as get
from weft.networks.objects.constraints import serialize as serialize
