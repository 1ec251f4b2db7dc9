"""tf.contrib.integrate: ordinary differential equations. This module only re-exports."""

from __future__ import annotations

from weft.ops.control_flow.differential_equations import odeint as odeint
from weft.ops.control_flow.differential_equations import odeint_fixed as odeint_fixed
