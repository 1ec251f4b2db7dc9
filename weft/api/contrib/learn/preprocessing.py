"""tf.contrib.learn.preprocessing: numbers for texts and categories. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.category_numbers import CategoricalProcessor as CategoricalProcessor
from weft.estimators.learn.category_numbers import CategoricalVocabulary as CategoricalVocabulary
from weft.estimators.learn.text_numbers import TOKENIZER_RE as TOKENIZER_RE
from weft.estimators.learn.text_numbers import ByteProcessor as ByteProcessor
from weft.estimators.learn.text_numbers import VocabularyProcessor as VocabularyProcessor
from weft.estimators.learn.text_numbers import tokenizer as tokenizer
