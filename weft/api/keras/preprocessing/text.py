"""tf.keras.preprocessing.text: texts as sequences."""

from __future__ import annotations

from weft.networks.preprocessing.texts import Tokenizer as Tokenizer
from weft.networks.preprocessing.texts import hashing_trick as hashing_trick
from weft.networks.preprocessing.texts import one_hot as one_hot
from weft.networks.preprocessing.texts import text_to_word_sequence as text_to_word_sequence
