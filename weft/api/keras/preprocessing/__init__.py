"""tf.keras.preprocessing: pictures, sequences and texts as arrays."""

from __future__ import annotations

from weft.api.keras.preprocessing import image as image
from weft.api.keras.preprocessing import sequence as sequence
from weft.api.keras.preprocessing import text as text
