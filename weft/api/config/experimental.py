"""tf.config.experimental: physical and logical devices. This module only re-exports."""

from __future__ import annotations

from weft.client.process_settings import VirtualDeviceConfiguration as VirtualDeviceConfiguration
from weft.client.process_settings import get_device_policy as get_device_policy
from weft.client.process_settings import get_memory_growth as get_memory_growth
from weft.client.process_settings import get_synchronous_execution as get_synchronous_execution
from weft.client.process_settings import get_virtual_device_configuration as get_virtual_device_configuration
from weft.client.process_settings import get_visible_devices as get_visible_devices
from weft.client.process_settings import list_logical_devices as list_logical_devices
from weft.client.process_settings import list_physical_devices as list_physical_devices
from weft.client.process_settings import set_device_policy as set_device_policy
from weft.client.process_settings import set_memory_growth as set_memory_growth
from weft.client.process_settings import set_synchronous_execution as set_synchronous_execution
from weft.client.process_settings import set_virtual_device_configuration as set_virtual_device_configuration
from weft.client.process_settings import set_visible_devices as set_visible_devices
