"""tf.contrib.lookup: tables from keys to values. This module only re-exports."""

from __future__ import annotations

from weft.ops.lookup.initializers import KeyValueTensorInitializer as KeyValueTensorInitializer
from weft.ops.lookup.initializers import TableInitializerBase as TableInitializerBase
from weft.ops.lookup.initializers import TextFileIdTableInitializer as TextFileIdTableInitializer
from weft.ops.lookup.initializers import TextFileIndex as TextFileIndex
from weft.ops.lookup.initializers import TextFileInitializer as TextFileInitializer
from weft.ops.lookup.initializers import TextFileStringTableInitializer as TextFileStringTableInitializer
from weft.ops.lookup.tables import LookupInterface as LookupInterface
from weft.ops.lookup.tables import MutableDenseHashTable as MutableDenseHashTable
from weft.ops.lookup.tables import MutableHashTable as MutableHashTable
from weft.ops.lookup.tables import StaticHashTable as _StaticHashTable
from weft.ops.lookup.vocabularies import FastHashSpec as FastHashSpec
from weft.ops.lookup.vocabularies import HasherSpec as HasherSpec
from weft.ops.lookup.vocabularies import IdTableWithHashBuckets as IdTableWithHashBuckets
from weft.ops.lookup.vocabularies import StrongHashSpec as StrongHashSpec
from weft.ops.lookup.vocabularies import index_table_from_file as index_table_from_file
from weft.ops.lookup.vocabularies import index_table_from_tensor as index_table_from_tensor
from weft.ops.lookup.vocabularies import index_to_string as index_to_string
from weft.ops.lookup.vocabularies import index_to_string_table_from_file as index_to_string_table_from_file
from weft.ops.lookup.vocabularies import index_to_string_table_from_tensor as index_to_string_table_from_tensor
from weft.ops.lookup.vocabularies import string_to_index as string_to_index

# Under a name of its own: type checkers take a renamed import for the module's private business.
HashTable = _StaticHashTable

string_to_index_table_from_file = index_table_from_file
string_to_index_table_from_tensor = index_table_from_tensor

__all__ = ["HashTable"]
