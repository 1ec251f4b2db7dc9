"""tf.keras.preprocessing.sequence: sequences as arrays."""

from __future__ import annotations

from weft.networks.preprocessing.sequences import pad_sequences as pad_sequences
