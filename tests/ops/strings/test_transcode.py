"""Texts in other encodings."""

from __future__ import annotations

import numpy as np
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


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("aé€𐐷".encode("utf-16-be"), "UTF-16"),
        ("aé€𐐷".encode("utf-32-be"), "UTF-32"),
        (b"\xff\xfe" + "aé€𐐷".encode("utf-16-le"), "UTF-16"),
        (b"\xfe\xff" + "aé€𐐷".encode("utf-16-be"), "UTF-16"),
    ],
)
def test_a_text_without_a_mark_of_its_byte_order_is_big_endian(text: bytes, encoding: str) -> None:
    with tf.Session() as session:
        assert session.run(tf.strings.unicode_transcode(text, encoding, "UTF-8")) == "aé€𐐷".encode()


@pytest.mark.parametrize(
    ("errors", "text", "expected"),
    [
        ("ignore", b"a\x01b", b"ab"),
        ("ignore", b"\x00\xff", b""),
        ("replace", b"a\x01b\xff", b"a?b?"),
        ("replace", "a\ufffd".encode(), "a\ufffd".encode()),  # a character as any other
    ],
)
def test_control_characters_are_replaced_or_left_out_like_what_is_no_text(errors: str, text: bytes, expected: bytes) -> None:
    with tf.Session() as session:
        shown = tf.strings.unicode_transcode(
            text, "UTF-8", "UTF-8", errors, replacement_char=ord("?"), replace_control_characters=True
        )
        assert session.run(shown) == expected


@pytest.mark.parametrize(("strings", "axis", "shape"), [((0, 1), 1, (0,)), ((1, 0), 0, (0,)), ((0, 1), 0, (1,))])
def test_no_strings_are_joined_to_none(strings: tuple[int, int], axis: int, shape: tuple[int, ...]) -> None:
    with tf.Session() as session:
        assert session.run(tf.reduce_join(np.zeros(strings, str), axis)).shape == shape
