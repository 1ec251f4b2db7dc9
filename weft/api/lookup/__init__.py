"""tf.lookup: tables from keys to values. This module only re-exports."""

from __future__ import annotations

from weft.api.lookup import experimental as experimental
from weft.ops.lookup.initializers import KeyValueTensorInitializer as KeyValueTensorInitializer
from weft.ops.lookup.initializers import TextFileIndex as TextFileIndex
from weft.ops.lookup.initializers import TextFileInitializer as TextFileInitializer
from weft.ops.lookup.tables import StaticHashTable as StaticHashTable
from weft.ops.lookup.vocabularies import StaticVocabularyTable as StaticVocabularyTable
