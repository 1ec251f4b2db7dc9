"""tf.keras.constraints: projections of weights after updates."""

from __future__ import annotations

from weft.networks.objects.constraints import Constraint as Constraint
from weft.networks.objects.constraints import MaxNorm as MaxNorm
from weft.networks.objects.constraints import MinMaxNorm as MinMaxNorm
from weft.networks.objects.constraints import NonNeg as NonNeg
from weft.networks.objects.constraints import RadialConstraint as RadialConstraint
from weft.networks.objects.constraints import UnitNorm as UnitNorm
from weft.networks.objects.constraints import deserialize as deserialize
from weft.networks.objects.constraints import get as get
from weft.networks.objects.constraints import serialize as serialize

# Under a name of its own: type checkers take a renamed import for the module's private business.
max_norm = MaxNorm
min_max_norm = MinMaxNorm
non_neg = NonNeg
radial_constraint = RadialConstraint
unit_norm = UnitNorm
