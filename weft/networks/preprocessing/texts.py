"""Texts as sequences of words' numbers."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array
from weft.framework.types.printed import printed
from weft.networks.config import Config, Options

_FILTERS: Final = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(text: str, filters: str = _FILTERS, lower: bool = True, split: str = " ") -> list[str]:
    """The words of a text: split where `split` or one of the filtered characters is.

    Args:
        text: the text.
        filters: the characters that separate words.
        lower: whether letters are made small.
        split: the separator of words.
    """
    given = text.lower() if lower else text
    table: dict[str, str | int | None] = dict.fromkeys(filters, split)
    return [each for each in given.translate(str.maketrans(table)).split(split) if each]


def one_hot(text: str, n: int, filters: str = _FILTERS, lower: bool = True, split: str = " ") -> list[int]:
    """The words' hashes, between 1 and `n - 1`; they differ from process to process.

    Args:
        text: the text.
        n: the number of hashes, 0 among them.
        filters: the characters that separate words.
        lower: whether letters are made small.
        split: the separator of words.
    """
    return hashing_trick(text, n, hash, filters, lower, split)


def hashing_trick(
    text: str, n: int, hash_function: Callable[[str], int] | str | None = None, filters: str = _FILTERS, lower: bool = True,
    split: str = " ",
) -> list[int]:  # fmt: skip
    """The words' hashes by a function, between 1 and `n - 1`.

    Args:
        text: the text.
        n: the number of hashes, 0 among them.
        hash_function: a function of a word, or "md5", which is the same in each process; Python's `hash` when None.
        filters: the characters that separate words.
        lower: whether letters are made small.
        split: the separator of words.

    Raises:
        ValueError: another name of a function.
    """
    if isinstance(hash_function, str) and hash_function != "md5":
        raise ValueError(f'hashing_trick: hash_function is a function of a word, "md5" or None, but is {hash_function!r}')
    function = _md5 if isinstance(hash_function, str) else hash_function or hash
    return [function(word) % (n - 1) + 1 for word in text_to_word_sequence(text, filters, lower, split)]


def _md5(word: str) -> int:
    return int(hashlib.md5(word.encode(), usedforsecurity=False).hexdigest(), 16)


class Tokenizer:
    """Words and their numbers, the most frequent first, from 1.

    Args:
        num_words: the numbers to use are below this; all when None.
        filters: the characters that separate words.
        lower: whether to make letters small.
        split: the separator of words.
        char_level: whether characters are words.
        oov_token: the word for unknown ones, number 1; they are left out when None.
        document_count: how many texts were seen already.
        kwargs: none.

    Raises:
        TypeError: unknown arguments.
    """

    __repr__ = printed("tf.keras.preprocessing.text")

    def __init__(
        self, num_words: int | None = None, filters: str = _FILTERS, lower: bool = True, split: str = " ",
        char_level: bool = False, oov_token: str | None = None, document_count: int = 0, **kwargs: Options,
    ) -> None:  # fmt: skip
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self.num_words, self.filters, self.lower, self.split = num_words, filters, lower, split
        self.char_level, self.oov_token, self.document_count = char_level, oov_token, document_count
        self.word_counts: Counter[str] = Counter()
        self.word_docs: Counter[str] = Counter()
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}
        # In how many texts, or sequences of numbers, each number is.
        self.index_docs: Counter[int] = Counter()

    def _words(self, text: str | Sequence[str]) -> list[str]:
        if self.char_level or isinstance(text, list):
            return [each.lower() for each in text] if self.lower else list(text)
        assert isinstance(text, str)
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts: Iterable[str | Sequence[str]]) -> None:
        """Count the words of texts and number them.

        Args:
            texts: texts, or lists of words.
        """
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            self.word_counts.update(words)
            self.word_docs.update(set(words))
        ordered = sorted(self.word_counts.items(), key=lambda pair: pair[1], reverse=True)
        names = [*([] if self.oov_token is None else [self.oov_token]), *(word for word, _ in ordered)]
        self.word_index = {word: number for number, word in enumerate(names, 1)}
        self.index_word = {number: word for word, number in self.word_index.items()}
        self.index_docs = Counter({self.word_index[word]: count for word, count in self.word_docs.items()})

    def fit_on_sequences(self, sequences: Iterable[Sequence[int]]) -> None:
        """Count in how many sequences of numbers each is, for "tfidf" of numbers without texts.

        Args:
            sequences: lists of the words' numbers.
        """
        for numbers in sequences:
            self.document_count += 1
            self.index_docs.update(set(numbers))

    def texts_to_sequences(self, texts: Iterable[str | Sequence[str]]) -> list[list[int]]:
        """The words' numbers of each text.

        Args:
            texts: texts, or lists of words.
        """
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts: Iterable[str | Sequence[str]]) -> Iterator[list[int]]:
        """The words' numbers of each text, one text after the other.

        Args:
            texts: texts, or lists of words.
        """
        unknown = None if self.oov_token is None else self.word_index.get(self.oov_token)
        for text in texts:
            numbers = (self._number(word, unknown) for word in self._words(text))
            yield [number for number in numbers if number is not None]

    def _number(self, word: str, unknown: int | None) -> int | None:
        number = self.word_index.get(word)
        return unknown if number is None or (self.num_words and number >= self.num_words) else number

    def sequences_to_texts(self, sequences: Iterable[Sequence[int]]) -> list[str]:
        """The texts of numbers.

        Args:
            sequences: lists of the words' numbers.
        """
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences: Iterable[Sequence[int]]) -> Iterator[str]:
        """The texts of numbers, one after the other.

        Args:
            sequences: lists of the words' numbers.
        """
        for numbers in sequences:
            yield " ".join(word for word in map(self._word, numbers) if word is not None)

    def _word(self, number: int) -> str | None:
        word = self.index_word.get(number)
        return self.oov_token if word is None or (self.num_words and number >= self.num_words) else word

    def texts_to_matrix(self, texts: Iterable[str | Sequence[str]], mode: str = "binary") -> Array:
        """A row for each text; see `sequences_to_matrix`.

        Args:
            texts: texts, or lists of words.
            mode: "binary", "count", "freq" or "tfidf".
        """
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode)

    def sequences_to_matrix(self, sequences: Sequence[Sequence[int]], mode: str = "binary") -> Array:
        """A row for each sequence with what its words are worth: `[sequences, num_words]`.

        Args:
            sequences: lists of the words' numbers.
            mode: "binary" for 1, "count", "freq" for the part of the sequence, or "tfidf".

        Raises:
            ValueError: there is no such mode, nothing says how many words there are, or "tfidf" comes before texts were seen.
        """
        if not self.num_words and not self.word_index:
            raise ValueError("Specify a dimension (`num_words` argument), or fit on some text data first.")
        if mode not in ("binary", "count", "freq", "tfidf"):
            raise ValueError("Unknown vectorization mode:", mode)
        width = self.num_words or len(self.word_index) + 1
        made = np.zeros((len(sequences), width))
        for row, numbers in zip(made, sequences, strict=True):
            for number, count in Counter(each for each in numbers if each < width).items():
                row[number] = self._worth(number, count, len(numbers), mode)
        return made

    def _worth(self, number: int, count: int, length: int, mode: str) -> float:
        if mode == "tfidf":
            documents = self.index_docs.get(number, 0)
            return float((1 + np.log(count)) * np.log(1 + self.document_count / (1 + documents)))
        return {"binary": 1.0, "count": float(count), "freq": count / length}[mode]

    def get_config(self) -> Config:
        """The arguments and the words, as plain data."""
        names = ("num_words", "filters", "lower", "split", "char_level", "oov_token", "document_count")
        words = {
            name: json.dumps(getattr(self, name))
            for name in ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
        }
        return {**{name: getattr(self, name) for name in names}, **words}

    def to_json(self, **kwargs: Options) -> str:
        """The config as JSON.

        Args:
            kwargs: arguments of `json.dumps`.
        """
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)
