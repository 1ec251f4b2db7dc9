"""Texts in other encodings."""

from __future__ import annotations

import pytest

import weft as tf


def test_an_unknown_encoding_is_refused():
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(tf.strings.unicode_transcode(["a"], "bogus", "UTF-8"))
    assert str(caught.value).startswith("Could not create converter for input encoding: bogus")


def test_texts_change_their_encoding():
    with tf.Session() as session:
        assert session.run(tf.strings.unicode_transcode([b"\x82\xa0"], "SHIFT-JIS", "UTF-8")).tolist() == ["あ".encode()]
        assert session.run(tf.strings.unicode_transcode([b"a\xff"], "US-ASCII", "UTF-8", replacement_char=63)).tolist() == [
            b"a?"
        ]
