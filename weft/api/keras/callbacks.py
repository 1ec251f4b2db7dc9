"""tf.keras.callbacks: what runs beside training."""

from __future__ import annotations

from weft.networks.callbacks.callback import Callback as Callback
from weft.networks.callbacks.callback import History as History
from weft.networks.callbacks.callback import LambdaCallback as LambdaCallback
from weft.networks.callbacks.monitors import CSVLogger as CSVLogger
from weft.networks.callbacks.monitors import EarlyStopping as EarlyStopping
from weft.networks.callbacks.monitors import LearningRateScheduler as LearningRateScheduler
from weft.networks.callbacks.monitors import ModelCheckpoint as ModelCheckpoint
from weft.networks.callbacks.monitors import ReduceLROnPlateau as ReduceLROnPlateau
from weft.networks.callbacks.monitors import TerminateOnNaN as TerminateOnNaN
from weft.networks.callbacks.progress import ProgbarLogger as ProgbarLogger
from weft.networks.callbacks.reports import BaseLogger as BaseLogger
from weft.networks.callbacks.reports import RemoteMonitor as RemoteMonitor
from weft.networks.callbacks.tensorboard import TensorBoard as TensorBoard
