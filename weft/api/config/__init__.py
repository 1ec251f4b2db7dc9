"""tf.config: the devices of this process and how they are used. This module only re-exports."""

from __future__ import annotations

from weft.api.config import experimental as experimental
from weft.api.config import optimizer as optimizer
from weft.api.config import threading as threading
from weft.client.process_settings import experimental_list_devices as experimental_list_devices
from weft.client.process_settings import experimental_run_functions_eagerly as experimental_run_functions_eagerly
from weft.client.process_settings import get_soft_device_placement as get_soft_device_placement
from weft.client.process_settings import set_soft_device_placement as set_soft_device_placement
