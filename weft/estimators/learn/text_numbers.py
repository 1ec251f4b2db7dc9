"""Numbers for texts: words of a vocabulary, or bytes, in rows of one length."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from weft.estimators.learn.category_numbers import CategoricalVocabulary
from weft.framework.types.printed import printed
from weft.platform.files import gfile

TOKENIZER_RE: Final = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)

Tokenizer = Callable[[Iterable[str]], Iterable[list[str]]]


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """The words of each text: acronyms, parts of CamelCase, and letters with apostrophes and hyphens.

    Args:
        iterator: the texts.
    """
    for text in iterator:
        yield TOKENIZER_RE.findall(text)


class ByteProcessor:
    """The bytes of texts.

    Args:
        max_document_length: the length of a row; longer texts are cut, shorter ones are followed by zeros.
    """

    def __init__(self, max_document_length: int) -> None:
        self.max_document_length = max_document_length

    def fit(self, x: Iterable[str | bytes]) -> Self:
        """Nothing: there is nothing to learn.

        Args:
            x: texts, or their bytes.

        Returns:
            This object.
        """
        return self

    def fit_transform(self, x: Iterable[str | bytes]) -> Iterator[NDArray[np.uint8]]:
        """As `transform`.

        Args:
            x: texts, or their bytes.

        Returns:
            An iterator of `[max_document_length]` uint8, one for each text.
        """
        return self.transform(x)

    def transform(self, x: Iterable[str | bytes]) -> Iterator[NDArray[np.uint8]]:
        """The bytes of each text, of `str` those of UTF-8: `[max_document_length]` uint8.

        Args:
            x: texts, or their bytes.
        """
        for text in x:
            content = text.encode() if isinstance(text, str) else text
            row = np.zeros(self.max_document_length, np.uint8)
            part = np.frombuffer(content[: self.max_document_length], np.uint8)
            row[: len(part)] = part
            yield row

    def reverse(self, x: Iterable[NDArray[np.uint8]]) -> Iterator[str]:
        """The text of each row; an empty one where the bytes are none of UTF-8.

        Args:
            x: rows of bytes; the zeros at the end are left out.
        """
        for row in x:
            try:
                yield np.trim_zeros(row.astype(np.uint8), "b").tobytes().decode()
            except UnicodeDecodeError:
                yield ""


class VocabularyProcessor:
    """The numbers of the words of texts, in the order in which the words first came.

    Args:
        max_document_length: the length of a row; longer texts are cut, shorter ones are followed by zeros.
        min_frequency: a word that does not come more often than this is unknown, and has the number 0.
        vocabulary: the words; learnt by `fit` when None.
        tokenizer_fn: makes lists of words of texts; `tokenizer` when None.
    """

    __repr__ = printed("tf.contrib.learn.preprocessing")

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: Tokenizer | None = None,
    ) -> None:
        self.max_document_length, self.min_frequency = max_document_length, min_frequency
        self.vocabulary_ = CategoricalVocabulary() if vocabulary is None else vocabulary
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: object = None) -> Self:
        """Learn the words of texts.

        Args:
            raw_documents: texts, whose words the tokenizer finds.
            unused_y: taken for scikit-learn's sake.

        Returns:
            This object.
        """
        for words in self._tokenizer(raw_documents):
            for word in words:
                self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents: Iterable[str], unused_y: object = None) -> Iterator[NDArray[np.int64]]:
        """Learn the words of texts, and number them; the texts are read twice.

        Args:
            raw_documents: texts, whose words the tokenizer finds.
            unused_y: taken for scikit-learn's sake.

        Returns:
            An iterator of `[max_document_length]` int64, one for each text.
        """
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[NDArray[np.int64]]:
        """The numbers of the words of each text: `[max_document_length]` int64.

        Args:
            raw_documents: texts; words that were not learned have the number 0.
        """
        for words in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            for place, word in enumerate(words[: self.max_document_length]):
                row[place] = self.vocabulary_.get(word)
            yield row

    def reverse(self, documents: Iterable[Iterable[int]]) -> Iterator[str]:
        """The words of each row, with blanks between them.

        Args:
            documents: rows of numbers, as `transform` gave them.
        """
        for row in documents:
            yield " ".join(str(self.vocabulary_.reverse(number)) for number in row)

    def save(self, filename: str) -> None:
        """Write the processor to a file, by pickle.

        Args:
            filename: the file.
        """
        with gfile.Open(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: str) -> VocabularyProcessor:
        """The processor of a file that `save` wrote. Unpickling runs what the file says: use files that you trust.

        Args:
            filename: the file.

        Raises:
            TypeError: the file holds something else.
        """
        with gfile.Open(filename, "rb") as file:
            restored = pickle.loads(file.read())
        if not isinstance(restored, cls):
            raise TypeError(f"{filename!r} holds a {type(restored).__name__}, not a {cls.__name__}")
        return restored
