"""tf.strings: working with tensors of strings."""

from __future__ import annotations

from weft.ops.ragged.strings import bytes_split as bytes_split
from weft.ops.ragged.strings import strings_split as split
from weft.ops.strings.elementwise import as_string as as_string
from weft.ops.strings.elementwise import regex_full_match as regex_full_match
from weft.ops.strings.elementwise import regex_replace as regex_replace
from weft.ops.strings.elementwise import string_length as length
from weft.ops.strings.elementwise import string_lower as lower
from weft.ops.strings.elementwise import string_strip as strip
from weft.ops.strings.elementwise import string_to_hash_bucket as to_hash_bucket
from weft.ops.strings.elementwise import string_to_hash_bucket_fast as to_hash_bucket_fast
from weft.ops.strings.elementwise import string_to_hash_bucket_strong as to_hash_bucket_strong
from weft.ops.strings.elementwise import string_to_number as to_number
from weft.ops.strings.elementwise import string_upper as upper
from weft.ops.strings.elementwise import substr as substr
from weft.ops.strings.parts import reduce_join as reduce_join
from weft.ops.strings.parts import string_format as format
from weft.ops.strings.parts import string_join as join
from weft.ops.strings.segments import unicode_transcode as unicode_transcode
from weft.ops.strings.segments import unsorted_segment_join as unsorted_segment_join
