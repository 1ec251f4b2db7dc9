"""tf.keras.callbacks: what runs beside training."""

from __future__ import annotations

from weft.networks.callbacks.callback import Callback as Callback
from weft.networks.callbacks.callback import History as History
from weft.networks.callbacks.callback import LambdaCallback as LambdaCallback
from weft.networks.callbacks.progress import ProgbarLogger as ProgbarLogger
