from __future__ import annotations

import random

import numpy as np
import pytest

from weft.ops.strings import portable_hash, portable_hash_128
from weft.ops.strings.hash import fingerprints, keyed_hashes, long_fingerprints, old_hashes

# The values are TensorFlow's: string_to_hash_bucket_fast, _strong (key 123, 456) and string_to_hash_bucket with 2**63 - 1
# buckets, of the first n bytes of this sequence, for lengths on both sides of each branch of the functions.
TEXT = bytes((7 * i * i + 3 * i + 11) % 251 for i in range(400))
BUCKETS = 2**63 - 1
KNOWN = [
    (0, 1936946117179621456, 887865449656487407, 105434511174508092),
    (1, 4787810249829893994, 9057806082274214957, 7448019622685415175),
    (3, 6829288388590339700, 5264532780484211127, 7806805325671523875),
    (4, 2382328296758706077, 3756826310612601779, 118614912410040847),
    (7, 8130057553361832622, 8566190013237016033, 9197433465626993298),
    (8, 5762360874514874293, 7328227027884152110, 2193620595699381171),
    (15, 3637339519383608556, 5250850107678203080, 7313081365509305435),
    (16, 2936992936448149787, 8169434643508986334, 4887092353857208782),
    (17, 442255157340825235, 3112058326230638492, 6060815997956493327),
    (32, 7128750214981264417, 2063410371611200093, 8691548005760840681),
    (33, 480313818581269857, 7956936855190408871, 6046733360146972449),
    (64, 6429163384262519882, 7981327797661062452, 1166404999529671159),
    (65, 7359482935780492211, 5915242608171485449, 8800024119060848124),
    (127, 7930827742714178268, 8935472087956494365, 5031271668817535577),
    (128, 1053956146652221279, 6616659812991420637, 1431902250645015702),
    (129, 3101364671386602917, 2577204280445863561, 341727497597357924),
    (400, 7519099756936333091, 4115285362629032321, 1434718648657666004),
]


@pytest.mark.parametrize(("length", "fast", "strong", "old"), KNOWN)
def test_hashes_are_those_of_tensorflow(length: int, fast: int, strong: int, old: int) -> None:
    texts = [TEXT[:length]]
    found = [
        hashes[0] % np.uint64(BUCKETS) for hashes in (fingerprints(texts), keyed_hashes(texts, (123, 456)), old_hashes(texts))
    ]
    assert found == [fast, strong, old]


def test_compiled_hashes_and_those_in_python_are_equal() -> None:
    source = random.Random(5)
    texts = [source.randbytes(source.randrange(200)) for _ in range(300)]
    assert fingerprints(texts).tolist() == [portable_hash.farm_hash_64(text) for text in texts]
    key = (123, 2**64 - 456)
    words = b"".join(word.to_bytes(8, "little") for word in key)
    assert keyed_hashes(texts, key).tolist() == [portable_hash.sip_hash(words, text) for text in texts]


def test_long_fingerprints_are_those_of_tensorflow_compiled_and_in_python() -> None:
    known = {
        b"": (4463240938071824939, 4374473821787594281),
        b"x" * 17: (6750864138911643067, 4963244384729455311),
        bytes(range(128)): (-7458184564870852249, -2888668851988123742),
        bytes(range(256)) * 2 + b"tail": (2915230044983570683, 448487411372602731),
    }
    assert long_fingerprints(list(known)).astype(np.int64).tolist() == [list(pair) for pair in known.values()]
    source = random.Random(5)
    texts = [source.randbytes(size) for size in range(400)]
    assert long_fingerprints(texts).tolist() == [list(portable_hash_128.farm_hash_128(text)) for text in texts]


def test_hashes_spread_over_buckets() -> None:
    counts = np.bincount(fingerprints([str(i).encode() for i in range(2000)]) % np.uint64(10), minlength=10)
    assert counts.min() > 140
