"""tf.keras.applications: weft has none of them, and says so."""

from __future__ import annotations

from typing import NoReturn


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(
        f"tf.keras.applications.{name}: weft ships no ready-made networks; build it of tf.keras.layers and load your weights"
    )
