"""Regular expressions mean what RE2 says: syntax, characters of UTF-8, ends, rewrites. The results are TensorFlow 1.15's."""

from __future__ import annotations

import random

import pytest

import weft as tf
from weft.ops.strings.expressions import Expression, Rewrite


def _replaced(text, pattern, rewrite, replace_global=True):
    with tf.Session() as session:
        return session.run(tf.strings.regex_replace(text, pattern, rewrite, replace_global=replace_global))


@pytest.mark.parametrize(
    ("text", "pattern", "rewrite", "result"),
    [
        ("abC1é", r"\p{Ll}", ".", b"..C1."),
        ("abC1", "[[:alpha:]]+", ".", b".1"),
        ("a.b", r"\Q.\E", "!", b"a!b"),
        ("foo", r"(?U)o+", "!", b"f!!"),
        ("foo\n", "o$", "!", b"foo\n"),
        ("aé", ".", "x", b"xx"),
        ("é1", "[^a-z]", " ", b"  "),
        (b"\xff\xfea", ".", "x", b"\xff\xfex"),
        ("aab", "a*", "x", b"xbx"),
        ("aab", "b*", "x", b"xaxax"),
        ("éb", "x*", "-", "-é-b-".encode()),
        ("", "", "x", b"x"),
        ("aab", "(a)(a)", r"\2-\1", b"a-ab"),
        ("aab", "a", r"\0\0", b"aaaab"),
        ("aab", "a", r"\3", b"b"),
        ("aab", "(a)", r"<\x>", b"<<b"),
        ("aab", "(a)", r"\\", rb"\\b"),
        ("abcabc", "(?P<q>b)|(c)", r"[\1]", b"a[b][]a[b][]"),
        ("a\v b", r"\s", "x", b"a\vxb"),
    ],
)
def test_matches_are_replaced(text, pattern, rewrite, result):
    assert _replaced(text, pattern, rewrite) == result


@pytest.mark.parametrize(
    ("text", "pattern", "rewrite", "result"),
    [
        ("abc", "x*", "-", b"-abc"),
        ("aaa", "a", "b", b"baa"),
        ("éé", ".", r"<\0>", "<é>é".encode()),
        ("aa", "a", r"\x", b"aa"),
        ("bb", "a", r"\x", b"bb"),
    ],
)
def test_the_first_match_is_replaced(text, pattern, rewrite, result):
    assert _replaced(text, pattern, rewrite, replace_global=False) == result


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(a", "missing ): (a"),
        ("(?=a)", r"invalid perl operator: (?="),
        ("a**", "bad repetition operator: **"),
        (r"(a)\1", r"invalid escape sequence: \1"),
        ("[z-a]", "invalid character class range: z-a"),
        ("a{1001}", "invalid repetition size: {1001}"),
    ],
)
def test_what_is_no_expression_is_refused(pattern, reason):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        _replaced("a", pattern, "x")
    assert str(caught.value).startswith(f"Invalid pattern: {pattern}, error: {reason}")


@pytest.mark.parametrize(
    ("text", "pattern", "matches"),
    [("foo", "fo+", True), ("foo\n", "foo$", False), ("aé", "..", True), (b"\xff", ".", False), ("foob", "foo|foob", True)],
)
def test_the_whole_text_is_matched(text, pattern, matches):
    with tf.Session() as session:
        assert session.run(tf.strings.regex_full_match(text, pattern)) == matches
        assert session.run(tf.strings.regex_full_match([text], tf.constant(pattern))).tolist() == [matches]


def test_both_libraries_say_the_same_of_plain_patterns_and_texts():
    draw = random.Random(3)
    pieces = [*"ab1 -.|^", r"\d", r"\w", r"\s", r"\.", "[ab]", "[^a]", "[a-b1]", "(a|b)", "(?:ab)", "(b+)"]
    endings = ["", "", "", "*", "+", "?", "+?", "{1,2}"]
    compared = 0
    while compared < 300:
        pattern = "".join(draw.choice(pieces) + draw.choice(endings) for _ in range(draw.randint(1, 4))).encode()
        try:
            expression = Expression(pattern)
        except tf.errors.InvalidArgumentError:
            continue
        if expression._quick is None:
            continue
        slow = Expression(pattern)
        slow._quick = None
        text = "".join(draw.choice("aab1 -.\n") for _ in range(12)).encode()
        for rewrite in (Rewrite(b"x"), Rewrite(rb"<\0\1>")):
            for every in (True, False):
                assert expression.replace(text, rewrite, every) == slow.replace(text, rewrite, every), (pattern, text)
        assert expression.matches_whole(text) == slow.matches_whole(text)
        compared += 1


def test_expressions_show_themselves():
    assert "a+" in repr(Expression(b"a+"))
    assert "x" in repr(Rewrite(b"x"))


@pytest.mark.parametrize("pattern", [b"(a+)+b", b"(?:a|a)*b", b"((a*)b?)+c", b"(x(a?)){9,}b", rb"(\)a+)+b"])
def test_patterns_that_take_python_for_ever_are_left_to_re2(pattern):
    expression = Expression(pattern)
    assert expression._quick is None
    assert not expression.matches_whole(b"a" * 5000)


@pytest.mark.parametrize("pattern", [b"(ab)+c", b"(a+)b", b"(a+)?b", rb"(a\+)+b", b"([+*|])+b", b"(?:ab)+c"])
def test_repeated_groups_without_a_choice_are_quick(pattern):
    assert Expression(pattern)._quick is not None
