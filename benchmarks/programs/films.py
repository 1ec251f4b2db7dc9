"""The records of the input benchmarks: opinions of films, as a recommender reads them."""

from __future__ import annotations

import random
from typing import Any

from benchmarks.framework import framework

_GENRES = (b"action", b"crime", b"drama", b"war")
_OCCUPATIONS = (b"artist", b"clerk", b"doctor")


def example(source: random.Random) -> bytes:
    """Serialize an Example of six features."""
    made = framework().train.Example()
    feature = made.features.feature
    feature["person"].int64_list.value.append(source.randrange(2000))
    feature["film"].int64_list.value.append(source.randrange(800))
    feature["age"].float_list.value.append(source.randrange(80))
    feature["occupation"].bytes_list.value.append(source.choice(_OCCUPATIONS))
    feature["genres"].bytes_list.value.extend(source.sample(_GENRES, source.randrange(4)))
    feature["likes"].float_list.value.append(source.randrange(2))
    return bytes(made.SerializeToString())


def features(tf: Any) -> dict[str, Any]:
    """Say how the records are parsed."""
    return {
        "person": tf.FixedLenFeature([], tf.int64),
        "film": tf.FixedLenFeature([], tf.int64),
        "age": tf.FixedLenFeature([], tf.float32),
        "occupation": tf.FixedLenFeature([], tf.string),
        "genres": tf.VarLenFeature(tf.string),
        "likes": tf.FixedLenFeature([], tf.float32),
    }
