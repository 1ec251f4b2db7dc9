"""tf.strings: working with tensors of strings."""

from __future__ import annotations

from weft.ops.ragged.ngrams import ngrams as ngrams
from weft.ops.ragged.strings import bytes_split as bytes_split
from weft.ops.ragged.strings import strings_split as _strings_split
from weft.ops.ragged.unicode import unicode_decode as unicode_decode
from weft.ops.ragged.unicode import unicode_decode_with_offsets as unicode_decode_with_offsets
from weft.ops.ragged.unicode import unicode_encode as unicode_encode
from weft.ops.ragged.unicode import unicode_split as unicode_split
from weft.ops.ragged.unicode import unicode_split_with_offsets as unicode_split_with_offsets
from weft.ops.strings.elementwise import as_string as as_string
from weft.ops.strings.elementwise import string_length as _string_length
from weft.ops.strings.elementwise import string_lower as _string_lower
from weft.ops.strings.elementwise import string_strip as _string_strip
from weft.ops.strings.elementwise import string_to_number as _string_to_number
from weft.ops.strings.elementwise import string_upper as _string_upper
from weft.ops.strings.elementwise import substr as substr
from weft.ops.strings.hash_buckets import string_to_hash_bucket as _string_to_hash_bucket
from weft.ops.strings.hash_buckets import string_to_hash_bucket_fast as _string_to_hash_bucket_fast
from weft.ops.strings.hash_buckets import string_to_hash_bucket_strong as _string_to_hash_bucket_strong
from weft.ops.strings.parts import reduce_join as reduce_join
from weft.ops.strings.parts import string_format as _string_format
from weft.ops.strings.parts import string_join as _string_join
from weft.ops.strings.regexes import regex_full_match as regex_full_match
from weft.ops.strings.regexes import regex_replace as regex_replace
from weft.ops.strings.segments import unicode_transcode as unicode_transcode
from weft.ops.strings.segments import unsorted_segment_join as unsorted_segment_join

# Under a name of its own: type checkers take a renamed import for the module's private business.
split = _strings_split
length = _string_length
lower = _string_lower
strip = _string_strip
to_hash_bucket = _string_to_hash_bucket
to_hash_bucket_fast = _string_to_hash_bucket_fast
to_hash_bucket_strong = _string_to_hash_bucket_strong
to_number = _string_to_number
upper = _string_upper
format = _string_format
join = _string_join
