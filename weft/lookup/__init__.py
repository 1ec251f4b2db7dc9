"""tf.lookup: tables from keys to values. This module only re-exports."""

from __future__ import annotations

from weft.lookup import experimental as experimental
from weft.ops.lookup_initializers import KeyValueTensorInitializer as KeyValueTensorInitializer
from weft.ops.lookup_initializers import TextFileIndex as TextFileIndex
from weft.ops.lookup_initializers import TextFileInitializer as TextFileInitializer
from weft.ops.lookup_tables import StaticHashTable as StaticHashTable
from weft.ops.vocabularies import StaticVocabularyTable as StaticVocabularyTable
