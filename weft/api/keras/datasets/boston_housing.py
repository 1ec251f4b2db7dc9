"""tf.keras.datasets.boston_housing."""

from __future__ import annotations

from weft.networks.datasets.loading import boston_housing as _boston_housing

# Under a name of its own: type checkers take a renamed import for the module's private business.
load_data = _boston_housing
