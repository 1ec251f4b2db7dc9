"""The protocol buffers under TensorFlow's paths are those that weft uses."""

import importlib

import pytest

import weft as tf
from weft.api.core_paths import ALIASES


@pytest.mark.parametrize("path", sorted(ALIASES))
def test_every_path_of_the_table_has_its_messages(path: str) -> None:
    assert importlib.import_module(f"weft.core.{path}") is importlib.import_module(ALIASES[path])


def test_the_messages_are_wefts() -> None:
    assert tf.core.protobuf.config_pb2.ConfigProto is tf.ConfigProto
    assert tf.core.example.feature_pb2.Features is tf.train.Features
