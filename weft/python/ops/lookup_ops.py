"""tensorflow.python.ops.lookup_ops, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.ops.lookup_initializers import KeyValueTensorInitializer as KeyValueTensorInitializer
from weft.ops.lookup_initializers import TableInitializerBase as TableInitializerBase
from weft.ops.lookup_initializers import TextFileIdTableInitializer as TextFileIdTableInitializer
from weft.ops.lookup_initializers import TextFileIndex as TextFileIndex
from weft.ops.lookup_initializers import TextFileInitializer as TextFileInitializer
from weft.ops.lookup_initializers import TextFileStringTableInitializer as TextFileStringTableInitializer
from weft.ops.lookup_tables import LookupInterface as LookupInterface
from weft.ops.lookup_tables import MutableDenseHashTable as MutableDenseHashTable
from weft.ops.lookup_tables import MutableHashTable as MutableHashTable
from weft.ops.lookup_tables import StaticHashTable as StaticHashTable
from weft.ops.lookup_tables import tables_initializer as tables_initializer
from weft.ops.vocabularies import FastHashSpec as FastHashSpec
from weft.ops.vocabularies import HasherSpec as HasherSpec
from weft.ops.vocabularies import IdTableWithHashBuckets as IdTableWithHashBuckets
from weft.ops.vocabularies import StaticVocabularyTable as StaticVocabularyTable
from weft.ops.vocabularies import StrongHashSpec as StrongHashSpec
from weft.ops.vocabularies import index_table_from_file as index_table_from_file
from weft.ops.vocabularies import index_table_from_tensor as index_table_from_tensor
from weft.ops.vocabularies import index_to_string as index_to_string
from weft.ops.vocabularies import index_to_string_table_from_file as index_to_string_table_from_file
from weft.ops.vocabularies import index_to_string_table_from_tensor as index_to_string_table_from_tensor
from weft.ops.vocabularies import string_to_index as string_to_index
