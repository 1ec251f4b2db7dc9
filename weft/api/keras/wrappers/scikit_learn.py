"""tf.keras.wrappers.scikit_learn."""

from __future__ import annotations

from weft.networks.wrappers.scikit_learn import KerasClassifier as KerasClassifier
from weft.networks.wrappers.scikit_learn import KerasRegressor as KerasRegressor
