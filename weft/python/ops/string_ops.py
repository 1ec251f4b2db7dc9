"""tensorflow.python.ops.string_ops, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.ops.strings.elementwise import as_string as as_string
from weft.ops.strings.elementwise import regex_replace as regex_replace
from weft.ops.strings.elementwise import string_strip as string_strip
from weft.ops.strings.elementwise import string_to_hash_bucket_fast as string_to_hash_bucket_fast
from weft.ops.strings.elementwise import string_to_number as string_to_number
from weft.ops.strings.elementwise import substr as substr
from weft.ops.strings.parts import reduce_join as reduce_join
from weft.ops.strings.parts import string_join as string_join
from weft.ops.strings.parts import string_split as string_split
