"""tf.keras.preprocessing.sequence: sequences as arrays."""

from __future__ import annotations

from weft.networks.preprocessing.sequences import TimeseriesGenerator as TimeseriesGenerator
from weft.networks.preprocessing.sequences import make_sampling_table as make_sampling_table
from weft.networks.preprocessing.sequences import pad_sequences as pad_sequences
from weft.networks.preprocessing.skip_grams import skipgrams as skipgrams
